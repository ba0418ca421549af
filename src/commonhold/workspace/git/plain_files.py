"""Facts that git's own files state plainly: read without starting git, which would have no other work.

Each answer is the one that git gives, or None: then git must be asked.
"""

import os
import re
from typing import Final

from commonhold.machine.plain_files import read

_MOST_BYTES: Final = 65_536
_COMMIT: Final = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})\s*")
_BRANCH: Final = re.compile(rb"ref: (refs/heads/[^\s\\]+)\s*")
_BARE: Final = re.compile(rb"\bbare\s*(=\s*(true|yes|on|1)\b|$)", re.IGNORECASE | re.MULTILINE)
_ELSEWHERE: Final = b"worktree"


def git_folder_of(folder: str) -> tuple[str, str] | None:
    """Return the root of the working tree around a folder, and its git folder, if that is `.git` in the root itself.

    Both without links. None if anything may be unusual: another working tree of the repository, a repository without
    files on the way, another user's, another disk.
    """
    place = os.path.realpath(folder)
    if "/.git/" in f"{place}/":
        return None
    try:
        here = os.stat(place)
        while not os.path.lexists(f"{place}/.git"):
            if os.path.lexists(f"{place}/HEAD") or place == os.sep:
                return None
            place = os.path.dirname(place)
        git_folder = f"{place}/.git"
        found = [os.stat(place), os.lstat(git_folder)]
    except OSError:
        return None
    is_plain = os.path.isfile(f"{git_folder}/HEAD") and os.path.isdir(git_folder) and not os.path.islink(git_folder)
    is_own = all(each.st_uid == os.geteuid() and each.st_dev == here.st_dev for each in found)
    return (place, git_folder) if is_plain and is_own and _is_ordinary(git_folder) else None


def _is_ordinary(git_folder: str) -> bool:
    """Whether its settings leave the working tree where it is, and no other repository shares it."""
    said = read(f"{git_folder}/config", _MOST_BYTES)
    if said is None or _ELSEWHERE in said.lower() or _BARE.search(said) or b"include" in said.lower():
        return False
    return not os.path.lexists(f"{git_folder}/commondir")


def branch_in(git_folder: str) -> str | None:
    """Return the branch of HEAD, if a file of its own names its commit: otherwise it may be another's name."""
    branch = _BRANCH.fullmatch(read(f"{git_folder}/HEAD", _MOST_BYTES) or b"")
    is_its_own = branch is not None and head_in(git_folder) is not None
    return os.fsdecode(branch[1]).removeprefix("refs/heads/") if branch and is_its_own else None


def head_in(git_folder: str) -> str | None:
    """Return the commit of HEAD, if a file of its own names it."""
    said = read(f"{git_folder}/HEAD", _MOST_BYTES) or b""
    branch = _BRANCH.fullmatch(said)
    if branch:
        said = read(f"{git_folder}/{os.fsdecode(branch[1])}", _MOST_BYTES) or b""
    commit = _COMMIT.fullmatch(said)
    return commit[1].decode("ascii") if commit else None
