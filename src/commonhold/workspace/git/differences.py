"""The differences of a working tree from its HEAD, and which of them could be lost."""

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from commonhold.kernel.refs import short_ref
from commonhold.workspace.git import plain_files
from commonhold.workspace.git.indexes import Index
from commonhold.workspace.git.process import Git
from commonhold.workspace.line_ownership import Version

_OPERATIONS: Final = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}


@dataclass(frozen=True, slots=True)
class Tree:
    """One working tree: its root, its own git folder, and the one that it shares with others."""

    root: str
    git_dir: str
    common: str

    @property
    def shared_index(self) -> str:
        """Return the path of git's default index."""
        return os.path.join(self.git_dir, "index")

    @property
    def operation(self) -> str | None:
        """Return the operation that git is in the middle of; None if there is none."""
        return next(
            (word for name, word in _OPERATIONS.items() if os.path.lexists(os.path.join(self.git_dir, name))), None
        )


def find_tree(git: Git, before: Sequence[str] = ()) -> Tree | None:
    """The working tree that git, called with the options `before`, would use."""
    if not before and (plain := plain_files.git_folder_of(git.root)):
        root, git_dir = plain
        return Tree(root, git_dir, git_dir)
    asked = ("--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    done = git.run(*before, "rev-parse", *asked)
    lines = os.fsdecode(done.stdout).split("\n")
    if done.returncode or len(lines) != len(("root", "git_dir", "common", "")):
        return None
    return Tree(*(os.path.realpath(place) for place in lines[:3]))


def head_of(git: Git) -> str:
    """Return the commit of HEAD; empty if there is none yet."""
    plain = plain_files.git_folder_of(git.root)
    if plain and (commit := plain_files.head_in(plain[1])):
        return commit
    return git.line("rev-parse", "--verify", "--quiet", "HEAD^{commit}") or ""


def branch_of(git: Git) -> str:
    """Return the branch that HEAD is on; empty if it is on none."""
    plain = plain_files.git_folder_of(git.root)
    if plain and (branch := plain_files.branch_in(plain[1])):
        return branch
    return git.line("symbolic-ref", "--quiet", "--short", "HEAD") or ""


@lru_cache(maxsize=8)
def made_of(git: Git, commit: str) -> tuple[str, tuple[str, ...]]:
    """Return the tree of a commit, by its id, and its parents; nothing if there is no such commit."""
    words = ("rev-list", "--max-count=1", "--no-commit-header", "--format=%T %P", "--end-of-options", commit)
    tree, *parents = (git.line(*words) or "").split() or [""]
    return tree, tuple(parents)


def is_revision(git: Git, word: str) -> bool:
    """Whether a word names a commit or a tree."""
    return (
        bool(word) and git.line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{tree}}") is not None
    )


def changed(git: Git, index: Index, source: str, paths: Sequence[str]) -> tuple[str, ...]:
    """The files at these pathspecs (none: all) that are not as `source` has them. Paths count from the root."""
    if not source:
        return ()
    index.refresh()
    words = ("diff-index", "-z", "--name-only", "--no-renames", "--ignore-submodules=all", source, "--", *paths)
    return _names(git, words, index)


def untracked(git: Git, index: Index, paths: Sequence[str], *more: str) -> tuple[str, ...]:
    """Return the files at these pathspecs that git does not have; `more` says which are meant."""
    return _names(git, ("ls-files", "-z", "--full-name", "--others", *more, "--", *paths), index)


def unstaged(git: Git, index: Index) -> tuple[str, ...]:
    """All files that git does not ignore and HEAD does not have as they are."""
    head = head_of(git)
    return tuple(dict.fromkeys((*changed(git, index, head, ()), *untracked(git, index, (), "--exclude-standard"))))


def _names(git: Git, words: Sequence[str], index: Index) -> tuple[str, ...]:
    done = git.run(*words, settings=index.settings)
    return tuple(os.fsdecode(each) for each in done.stdout.split(b"\0") if each) if done.returncode == 0 else ()


def between(git: Git, one: str, other: str) -> frozenset[str] | None:
    """Return the files that differ between two commits or trees, from the root; None if git cannot answer."""
    done = git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other)
    return frozenset(os.fsdecode(each) for each in done.stdout.split(b"\0") if each) if done.returncode == 0 else None


def lost_commits(git: Git, lost: str, kept: Iterable[str]) -> tuple[str, ...]:
    """The commits that only `lost` leads to: no other branch, no tag, nor `kept`."""
    name = git.line("symbolic-ref", "--quiet", lost) or git.line("rev-parse", "--symbolic-full-name", lost) or lost
    branch = short_ref(name)
    others = (f"--exclude={branch}", "--branches", "--tags", "--remotes")
    done = git.run("rev-list", lost, "--not", *(each for each in kept if each), *others)
    return tuple(done.stdout.decode().split()) if done.returncode == 0 else ()


def here(root: str, path: str) -> Version | None:
    """Return the file as it is in the working tree. Raises Irregular if it is there, but no regular file."""
    place = Path(root, path)
    try:
        status = place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(status.st_mode):
        raise Irregular(path)
    return Version(place.read_bytes(), bool(status.st_mode & stat.S_IXUSR))


def in_head(git: Git, commit: str, path: str) -> Version | None:
    """The file as HEAD has it, in the form that it has in the working tree. Raises Irregular."""
    if not commit:
        return None
    listed = git.ask("ls-tree", "-z", "--full-tree", commit, "--", path, settings={"GIT_LITERAL_PATHSPECS": "1"})
    if not listed:
        return None
    mode = listed.split(b" ", 1)[0].decode("ascii")
    if not mode.startswith("100"):
        raise Irregular(path)
    return Version(git.ask("cat-file", "--filters", f"{commit}:{path}"), mode == "100755")


class Irregular(Exception):  # noqa: N818 - it is answered, never shown
    """A link, a submodule or a folder: it has no lines to compare."""


def blob_of(git: Git, path: str, content: bytes) -> str:
    """Put a file's bytes into the repository, as git would for a file at that path; the id."""
    return git.ask("hash-object", "-w", "--stdin", "--path", path, given=content).decode().strip()
