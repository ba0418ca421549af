"""The files of a working tree that count, and those among them that equal git's objects."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.keys import can_be_named
from commonhold.workspace import generated_folders
from commonhold.workspace.git.process import Git
from commonhold.workspace.ignore.own import OwnRules
from commonhold.workspace.scan.file_scan import FileScan
from commonhold.workspace.scan.plain_rules import PlainRules
from commonhold.workspace.scan.state import Tree

# The files in the index, those of them that differ or are gone, and those that are not in it.
_LIST: Final = (
    "ls-files",
    "-z",
    "-v",
    "--stage",
    "--cached",
    "--modified",
    "--deleted",
    "--others",
    "--exclude-standard",
)
_LIST_AMONG: Final = ("ls-files", "-z", "-v", "--stage", "--cached", "--others", "--exclude-standard")
_LITERAL: Final = {"GIT_LITERAL_PATHSPECS": "1"}
_REGULAR: Final = ("100644", "100755")
_AS_STAGED: Final = "H"
"""The tag of a file that equals git's object, if git has looked: others differ, or git has orders not to look."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The files that count: `clean` have the bytes of git's object (by path), `loose` others, or may have."""

    clean: dict[str, str]
    loose: frozenset[str]


def listed(root: str, git: Git | None, patterns: Sequence[str]) -> Listed:
    """The files that count: those that `patterns` (as in .gitignore) and the file of ignored paths do not leave out."""
    own = OwnRules(root, patterns)
    if git is None:
        found = FileScan(root, PlainRules(), can_be_named).taken(Tree()).files
        return Listed({}, frozenset(path for path in found if not own.is_ignored(path)))
    excluding = tuple(own.told_to_git())
    clean: dict[str, str] = {}
    loose: set[str] = set()
    for path, content in _entries(git.ask(*_LIST, *generated_folders.TOLD_TO_GIT, *excluding)):
        if content is None:
            loose.add(path)
        else:
            clean[path] = content
    left_out = _left_out(git, excluding)
    for path in loose | left_out:
        clean.pop(path, None)
    return Listed(clean, frozenset(loose - left_out))


def listed_among(root: str, git: Git, patterns: Sequence[str], paths: Collection[str]) -> frozenset[str]:
    """Return those of some files that count, as in `listed`."""
    if not paths:
        return frozenset()
    excluding = tuple(OwnRules(root, patterns).told_to_git())
    told = git.ask(*_LIST_AMONG, *generated_folders.TOLD_TO_GIT, *excluding, "--", *paths, settings=_LITERAL)
    return frozenset(path for path, _ in _entries(told)) - _left_out(git, excluding, paths)


def _left_out(git: Git, excluding: Sequence[str], paths: Collection[str] = ()) -> set[str]:
    """Return the files in git's index that we ignore all the same; only those among `paths`, if there are any."""
    if not excluding:
        return set()
    words = ("ls-files", "-z", "--cached", "--ignored", *excluding, "--", *paths)
    return {os.fsdecode(path) for path in git.ask(*words, settings=_LITERAL).split(b"\0")}


def _entries(told: bytes) -> Iterator[tuple[str, str | None]]:
    """Yield each file with its object in git's index; None if it differs, or is in no index.

    Links and repositories inside this one are left out: they are no files.
    """
    for entry in filter(None, os.fsdecode(told).split("\0")):
        tag, rest = entry[0], entry[2:]
        if tag == "?":
            path, content = rest, None
        else:
            about, _, path = rest.partition("\t")
            mode, content, stage = about.split(" ")
            if mode not in _REGULAR:
                continue
            content = content if tag == _AS_STAGED and stage == "0" else None
        if can_be_named(path) and not path.endswith("/"):
            yield path, content
