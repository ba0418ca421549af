"""What is edited: a program of ours in each language, and real files that this machine has anyway."""

import re
import sysconfig
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final

SMALLEST, LARGEST = 300, 12_000
OWN: Final = Path(__file__).parent / "programs"
_ROOT: Final = Path("/")
_EVERYWHERE: Final = (
    "usr/share/**/*{0}",
    "usr/lib/node_modules/**/*{0}",
    "usr/lib/python3*/**/*{0}",
    "usr/local/lib/**/*{0}",
    "etc/**/*{0}",
)
_GLOBS: Final[Mapping[str, Sequence[str]]] = {
    "javascript": ("usr/**/node_modules/**/*.js", "usr/**/node_modules/**/*.mjs"),
    "typescript": ("usr/**/node_modules/**/*.ts",),
    "go": ("usr/share/go-*/src/[a-z]*/*.go", "usr/share/go-*/src/[a-z]*/[a-z]*/*.go"),
    "rust": ("usr/share/cargo/registry/*/src/*.rs",),
    "c": ("usr/share/doc/**/*.c", "usr/include/*.h"),
    "cpp": ("usr/share/doc/**/*.cpp", "usr/share/doc/**/*.cc"),
    "php": ("usr/share/php/**/*.php",),
    "ruby": ("usr/lib/ruby/[0-9]*/**/*.rb",),
    "json": tuple(each.format(".json") for each in _EVERYWHERE),
    "yaml": tuple(each.format(ending) for ending in (".yaml", ".yml") for each in _EVERYWHERE),
    "toml": (*(each.format(".toml") for each in _EVERYWHERE), "usr/share/cargo/**/*.toml"),
}
_LEANING: Final[Mapping[str, re.Pattern[bytes]]] = {
    "rust": re.compile(
        rb"\b(?:crate|super)::|\bextern crate\b|^\s*(?:pub )?mod \w+;|^\s*(?:pub )?use (?!std|core)", re.MULTILINE
    )
}
"""What files of a language cannot be compiled alone, where the language has many such files."""
_JDK: Final = ("java.base/java/util/", "java.base/java/text/", "java.base/java/time/", "java.base/java/io/")


def own(suffix: str) -> Path:
    """Our program of a language."""
    return next(path for path in sorted(OWN.iterdir()) if path.suffix == suffix)


def real_files(language: str, work: Path, most: int, seed: int) -> list[Path]:
    """Some of the real files of a language, small enough to be edited often. The same seed gives the same."""
    leaning = _LEANING.get(language)
    found = sorted({path for path in _candidates(language, work) if _is_fit(path, leaning)})
    return Random(f"{seed}:{language}").sample(found, min(most, len(found)))  # noqa: S311 - repeatable on purpose


def _candidates(language: str, work: Path) -> Iterator[Path]:
    if language == "python":
        for path in Path(sysconfig.get_path("stdlib")).rglob("*.py"):
            if not {"test", "tests", "lib2to3"} & {*path.parts}:
                yield path
    elif language == "java":
        yield from _jdk(work)
    for pattern in _GLOBS.get(language, ()):
        yield from _ROOT.glob(pattern)


def _jdk(work: Path) -> Iterator[Path]:
    """The sources of the JDK, taken out of its archive."""
    folder = work / "jdk"
    archive = next(iter(sorted(_ROOT.glob("usr/lib/jvm/*17*/**/src.zip"))), None)
    if not folder.exists() and archive is not None:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder, [name for name in packed.namelist() if name.startswith(_JDK)])
    yield from folder.rglob("*.java")


def _is_fit(path: Path, leaning: re.Pattern[bytes] | None = None) -> bool:
    try:
        if not path.is_file() or path.is_symlink() or not SMALLEST <= path.stat().st_size <= LARGEST:
            return False
        text = path.read_bytes()
    except OSError:
        return False
    if leaning is not None and leaning.search(text):
        return False
    return text.isascii() and b"\r" not in text and max(map(len, text.splitlines()), default=0) < 400  # noqa: PLR2004 - minified
