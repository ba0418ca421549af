"""Judges that are programs of their own: compilers and interpreters that this machine may have."""

import base64
import json
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from bench.merging.generated.judges import JSON, TOML, YAML, Complaints, Judge, Typed

_PROGRAMS: Final = Path(__file__).parent / "front_ends"
_AT_ONCE: Final = 2
_SECONDS: Final = 120


@dataclass
class Conversation:
    """A program that answers each line that it is given with a line."""

    command: Sequence[str | Path]

    @cached_property
    def _process(self) -> subprocess.Popen[str]:
        return subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603

    def ask(self, line: str) -> str:
        """The answer. Raises EOFError where the program has ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(line + "\n")
        stdin.flush()
        answer = stdout.readline()
        if not answer:
            raise EOFError(f"{self.command[0]} has ended")
        return answer

    def close(self) -> None:
        """End the program, if it was begun."""
        if "_process" in self.__dict__:
            with self._process as process:
                process.kill()


@dataclass
class Asked:
    """A judge that is told the texts as JSON, and answers a list of sentences for each."""

    conversation: Conversation
    suffix: str = ""

    def complaints(self, place: Path, texts: Sequence[bytes]) -> list[Complaints]:
        """What the program says."""
        asked = {
            "folder": str(place.parent),
            "name": place.name,
            "suffix": self.suffix,
            "texts": [text.decode() for text in texts],
        }
        return [Counter(each) for each in json.loads(self.conversation.ask(json.dumps(asked)))]

    def close(self) -> None:
        """End the program."""
        self.conversation.close()


@dataclass
class Javac:
    """javac, in one virtual machine for all texts."""

    conversation: Conversation

    def complaints(self, place: Path, texts: Sequence[bytes]) -> list[Complaints]:
        """What javac says. A file of the JDK's own sources is compiled as a part of its module."""
        return [self._complaints(place, text) for text in texts]

    def _complaints(self, place: Path, text: bytes) -> Complaints:
        module = next((part for part in place.parts if part.startswith("java.")), "-")
        inside = place.parts[place.parts.index(module) + 1 :] if module != "-" else (place.name,)
        with tempfile.TemporaryDirectory(prefix="judge-java-") as folder:
            file = Path(folder, *inside)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text)
            answer = self.conversation.ask(f"{file}\t{module}\t{folder}").split()
        return Counter(base64.b64decode(each).decode() for each in answer)

    def close(self) -> None:
        """End the virtual machine."""
        self.conversation.close()


Call = Callable[[Path, Path], Sequence[str | Path]]


@dataclass
class Called:
    """A judge that is called for each text. `command` is given a file with the text, and where it is from."""

    command: Call
    said: re.Pattern[str]
    folder_of: Callable[[Path], Path | None] = field(default=lambda _: None)

    def complaints(self, place: Path, texts: Sequence[bytes]) -> list[Complaints]:
        """What the calls say, two at a time."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(lambda text: self._complaints(place, text), texts))

    def _complaints(self, place: Path, text: bytes) -> Complaints:
        with tempfile.TemporaryDirectory(prefix="judge-") as name:
            folder, around = Path(name) / "it", self.folder_of(place)
            if around is not None:
                shutil.copytree(around, folder)
            file = folder / (place.relative_to(around) if around is not None else place.name)
            file.parent.mkdir(exist_ok=True, parents=True)
            file.write_bytes(text)
            told = subprocess.run(  # noqa: S603 - a compiler, with paths that were made here
                self.command(file, place), cwd=name, capture_output=True, check=False, timeout=_SECONDS
            )
        lines = (told.stdout + told.stderr).decode(errors="replace").replace(name, "").splitlines()
        found = Counter(re.sub(r"\d+", "N", said[1]) for line in lines if (said := self.said.search(line)))
        return found or Counter([f"ends with {told.returncode}"] * bool(told.returncode))


def _crate(place: Path) -> Path | None:
    return next((each for each in place.parents if (each / "Cargo.toml").exists() and (each / "src").exists()), None)


def _rustc(file: Path, place: Path) -> Sequence[str | Path]:
    crate = _crate(place)
    root, edition = file, "2021"
    if crate is not None:
        root = Path(*file.parts[: len(file.parts) - len(place.relative_to(crate).parts)]) / "src" / "lib.rs"
        found = re.search(r'edition = "(\d+)"', (crate / "Cargo.toml").read_text(encoding="utf-8"))
        edition = found[1] if found else "2015"
    options = ["--edition", edition, "--crate-type", "lib", "--emit=metadata", "--cap-lints", "allow"]
    return ["rustc", *options, "--cfg", 'feature="std"', "--error-format", "short", "-o", "it.rmeta", root]


def _gcc(compiler: str) -> Call:
    def command(file: Path, place: Path) -> Sequence[str | Path]:
        kind = {"gcc": "c", "g++": "c++"}[compiler]
        return [compiler, "-fsyntax-only", "-w", "-x", kind, "-I", place.parent, file]

    return command


def _ended(command: Sequence[str | Path], folder: Path) -> Path:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603 - a compiler
    return folder


def _go(work: Path) -> Judge:
    folder = work / "judge-go"
    folder.mkdir(exist_ok=True, parents=True)
    _ended(["go", "build", "-o", folder / "judge", _PROGRAMS / "judge.go"], folder)
    return Asked(Conversation([folder / "judge"]))


def _java(work: Path) -> Judge:
    folder = work / "judge-java"
    folder.mkdir(exist_ok=True, parents=True)
    _ended(["javac", "-d", folder, _PROGRAMS / "Judge.java"], folder)
    return Javac(Conversation(["java", "-cp", folder, "Judge"]))


def _typescript(suffix: str) -> Callable[[Path], Judge]:
    def made(work: Path) -> Judge:
        return Asked(Conversation(["node", _PROGRAMS / "judge.js", typescript(work)]), suffix)

    return made


def typescript(work: Path) -> Path:
    """Where npm put TypeScript's compiler. Raises FileNotFoundError."""
    place = work / "typescript" / "node_modules" / "typescript"
    if not place.exists():
        raise FileNotFoundError(f"npm install --prefix {work / 'typescript'} typescript@5")
    return place


_SAID: Final = re.compile(r"error(?:\[\w+\])?: (.*)")
_PHP_SAID: Final = re.compile(r"((?:Parse|Fatal) error: .*?)(?: in \S+)? on line")
_MAKERS: Final[Mapping[str, Callable[[Path], Judge]]] = {
    "python": lambda _: Typed(),
    "javascript": _typescript(".js"),
    "typescript": _typescript(".ts"),
    "go": _go,
    "rust": lambda _: Called(_rustc, _SAID, _crate),
    "java": _java,
    "c": lambda _: Called(_gcc("gcc"), _SAID),
    "cpp": lambda _: Called(_gcc("g++"), _SAID),
    "php": lambda _: Called(lambda file, _: ["php", "-n", "-l", file], _PHP_SAID),
    "ruby": lambda _: Asked(Conversation(["ruby", _PROGRAMS / "judge.rb"])),
    "json": lambda _: JSON,
    "yaml": lambda _: YAML,
    "toml": lambda _: TOML,
}
TOOLS: Final[Mapping[str, Sequence[str]]] = {
    "javascript": ("node",),
    "typescript": ("node",),
    "go": ("go",),
    "rust": ("rustc",),
    "java": ("javac", "java"),
    "c": ("gcc",),
    "cpp": ("g++",),
    "php": ("php",),
    "ruby": ("ruby",),
}


def judge(language: str, work: Path) -> Judge | str:
    """The judge of a language; what is missing where this machine has none."""
    missing = [tool for tool in TOOLS.get(language, ()) if shutil.which(tool) is None]
    if missing:
        return f"no {' and no '.join(missing)}"
    try:
        return _MAKERS[language](work)
    except FileNotFoundError as error:
        return str(error)


def close(found: Judge) -> None:
    """End what a judge has begun."""
    if isinstance(found, Asked | Javac):
        found.close()
