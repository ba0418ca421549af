"""Repositories with two branches, `main` (checked out) and `other`, made from what each has in its files."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.cli_driver import git
from tests.e2e.templates import copied

Files = Mapping[Any, str | bytes | None]
"""The content of each file, by name (text or bytes); None where it is not there."""


def two_branches(root: Path, base: Files, ours: Files, theirs: Files) -> Path:
    """Make the repository. `ours` and `theirs` name only what differs from `base`."""
    what = tuple(tuple(files.items()) for files in (base, ours, theirs))
    return copied(root, what, lambda made: _make(made, base, ours, theirs))


def _make(root: Path, base: Files, ours: Files, theirs: Files) -> None:
    git(root, "init", "--quiet")
    for name, value in (("user.name", "Ann Example"), ("user.email", "ann@example.org")):
        git(root, "config", name, value)
    commit(root, base, "begin")
    git(root, "checkout", "--quiet", "-b", "other")
    commit(root, theirs, "what they want")
    git(root, "checkout", "--quiet", "main")
    commit(root, ours, "what we want")


def commit(root: Path, files: Files, message: str) -> None:
    write(root, files)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", message)


def write(root: Path, files: Files) -> None:
    for name, content in files.items():
        place = root / os.fsdecode(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            place.unlink()
        else:
            place.write_bytes(content.encode() if isinstance(content, str) else content)


def asked(root: Path, *words: str) -> str:
    """What git answers."""
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True).stdout.decode().strip()


def state(root: Path) -> tuple[str, str, str, dict[str, bytes]]:
    """All that a merge could change: the commit, the index, what git says of the tree, and the files themselves."""
    files = {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }
    return (
        asked(root, "rev-parse", "HEAD"),
        asked(root, "ls-files", "--stage"),
        asked(root, "status", "--porcelain"),
        files,
    )
