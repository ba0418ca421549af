"""The examples that other merge tools are tested with: how ours merges each, and what their authors expect.

The folders are git repositories of those tools, fetched to be read; nothing in them is kept. An example is a folder
with three versions of a file and the expected one, under any of the usual names.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import Final

from bench.merging.histories import tree_of
from bench.merging.repository import Repository
from bench.merging.showing import difference, show
from commonhold.code.regions.languages import language_for
from commonhold.merging.merge import merge
from commonhold.merging.profiles import profile_of
from commonhold.merging.verdict import Proven

CHUNK: Final = 8
_BASE: Final = ("base",)
_OURS: Final = ("left", "ours")
_THEIRS: Final = ("right", "theirs")
_EXPECTED: Final = ("expectedideally", "expected", "human")
_WANTED: Final = (_BASE, _OURS, _THEIRS, _EXPECTED)
_MARKER: Final = re.compile(rb"^[ \t]*(?:<{7}|={7}|>{7})", re.MULTILINE)
_TOKEN: Final = re.compile(rb"\w+|,(?!\s*[\])}])|[^\w\s,]")
# Files whose line breaks or indentation carry meaning.
_BY_LINES: Final = frozenset({"py", "yaml", "yml", "md", "txt", "mk"})


@dataclass(frozen=True)
class Example:
    """Three versions of a file; `expected` is None where the authors expect a conflict."""

    name: str
    path: str
    versions: tuple[bytes, bytes, bytes]
    expected: bytes | None

    @property
    def peer(self) -> str:
        """The tool that it belongs to."""
        return self.name.partition(":")[0]

    @property
    def is_structured(self) -> bool:
        """Whether ours merges files of its language by structure."""
        language = language_for(self.path, self.versions[0] or self.versions[1])
        return language is not None and profile_of(language) is not None


@dataclass(frozen=True)
class Outcome:
    """How ours merges an example: `kind` is the column of the table that it counts in."""

    example: Example
    kind: str

    @property
    def is_right(self) -> bool:
        """Whether the expected text is PROVEN or the first candidate."""
        return self.kind in {"expected", "reordered", "candidate", "candidate reordered"}


def examples(repository: Repository) -> Iterator[Example]:
    """Every example in a repository."""
    listed = repository.run("ls-tree", "-r", "-z", "--name-only", "HEAD").decode(errors="surrogateescape")
    paths = sorted(map(PurePosixPath, listed.split("\0")[:-1]), key=lambda path: (path.parent, path.name))
    for folder, files in groupby(paths, key=lambda path: path.parent):
        found = _parts({path.name.partition(".")[0].lower(): path for path in files})
        if found is not None:
            yield _example(repository, folder, found)


def _parts(files: Mapping[str, PurePosixPath]) -> list[PurePosixPath] | None:
    """The base, both sides and the expected file; last, if there is one, the file that names the language."""
    wanted = [next((files[name] for name in names if name in files), None) for names in _WANTED]
    found = [each for each in (*wanted, files.get("language")) if each is not None]
    return None if None in wanted else found


def _example(repository: Repository, folder: PurePosixPath, found: Sequence[PurePosixPath]) -> Example:
    texts = [each or b"" for each in repository.blobs([f"HEAD:{path}" for path in found])]
    named = texts[-1].decode().strip() if len(texts) > len(_WANTED) else ""
    path = named if "." in named else found[0].name if found[0].suffix else folder.name
    expected = None if _MARKER.search(texts[3]) else texts[3]
    return Example(f"{repository}:{folder}", path, (texts[0], texts[1], texts[2]), expected)


def look(example: Example) -> Outcome:
    """Merge one example, and compare the answer with the expected text."""
    answer = merge(*example.versions, example.path)
    expected = example.expected
    if expected is None:
        return Outcome(example, "PROVEN" if isinstance(answer, Proven) else "refused")
    if isinstance(answer, Proven):
        return Outcome(example, _likeness(example.path, answer.source, expected) or "otherwise")
    likenesses = [_likeness(example.path, each.source, expected) for each in answer.candidates()]
    if likenesses and likenesses[0]:
        return Outcome(example, "candidate" if likenesses[0] == "expected" else "candidate reordered")
    return Outcome(example, "later candidate" if "expected" in likenesses else "refused")


def _likeness(path: str, merged: bytes, expected: bytes) -> str:
    """`expected` where two texts say the same, `reordered` where they hold the same words; else empty.

    Blank lines do not count, nor the comma after a last entry, nor line breaks where the language ignores them.
    """
    tree = tree_of(expected) if path.endswith(".py") else None
    if _said(path, merged) == _said(path, expected) or (tree is not None and tree == tree_of(merged)):
        return "expected"
    return "reordered" if sorted(_TOKEN.findall(merged)) == sorted(_TOKEN.findall(expected)) else ""


def _said(path: str, text: bytes) -> list[bytes]:
    if path.rpartition(".")[2] in _BY_LINES:
        return [line.rstrip() for line in text.splitlines() if line.strip()]
    return _TOKEN.findall(text)


def measure(repositories: Iterable[Repository], processes: int) -> list[Outcome]:
    """Merge every example of every repository."""
    found = [example for repository in repositories for example in examples(repository)]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(look, found, chunksize=CHUNK))


def explain(repositories: Iterable[Repository], name: str) -> Iterator[str]:
    """All about the examples whose names hold `name`: lines to read."""
    for example in (each for repository in repositories for each in examples(repository) if name in each.name):
        answer = merge(*example.versions, example.path)
        yield f"===== {example.name}: {look(example).kind}"
        yield from show(example.path, example.versions, answer)
        if example.expected is None:
            yield "----- a conflict is expected"
            continue
        candidates = [] if isinstance(answer, Proven) else list(answer.candidates())[:1]
        for text in [answer.source] if isinstance(answer, Proven) else [each.source for each in candidates]:
            yield "----- from the expected text to ours"
            yield from difference(example.expected, text)
