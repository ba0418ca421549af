"""The working tree of this repository that contains a path of an agent, if any does."""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from commonhold.agents.hook_events import IntendedWrite, Patched, is_about
from commonhold.kernel.errors import Code, CommonholdError, InputError
from commonhold.workspace.repository import Repository, find_repository

_OWN: Final = ("/proc/self", "/proc/thread-self")
_MOST_LINKS: Final = 40
_LONGEST: Final = 4096
"""No system opens a path of more bytes; following one takes the square of its length."""
_SHOWN: Final = 200


class Trees:
    """The working trees of one repository: all that have one state folder."""

    def __init__(self, repository: Repository) -> None:
        """Know `repository` and its worktrees."""
        self._repository = repository

    def around(self, folder: str) -> str | None:
        """Return the root of the working tree around a folder; None if it is not of this repository."""
        folder = folder.rstrip(os.sep) or folder
        if len(folder) > _LONGEST:
            return None
        while not os.path.isdir(folder):
            folder, last = os.path.split(folder)
            if not last:
                return None
        try:
            found = find_repository(folder)
        except (CommonholdError, OSError):
            return None
        return found.root if found.state_folder == self._repository.state_folder else None

    def place(self, path: str, cwd: str) -> tuple[str, str] | None:
        """Return the working tree of a path, and the path inside it with all links followed; None if it is in none.

        Raises InputError `PATH_INVALID` for a path that no file can have, and for one that differs between processes.
        """
        whole = _whole(path, cwd)
        root = self.around(os.path.dirname(whole))
        if root is None or not whole.startswith(f"{root}{os.sep}"):
            return None
        inside = os.path.relpath(whole, root)
        return None if inside.split(os.sep, 1)[0] == ".git" else (root, inside)

    def meant(self, wish: IntendedWrite, cwd: str) -> IntendedWrite | None:
        """Return the wish of an unknown tool with its paths resolved; None if they are no files' names.

        Such a tool takes a path from the folder that its server works in: if there is nothing at it from `cwd`, and
        something from the root of the working tree, the latter is meant.
        """
        root = self.around(cwd)
        try:
            found = [self._meant(path, cwd, root) for path in is_about((wish,))]
            for path in found:
                self.place(path, cwd)
        except (InputError, ValueError):
            return None
        there = replace(wish, path=found[0])
        return replace(there, to=found[-1]) if isinstance(there, Patched) and there.to else there

    def _meant(self, path: str, cwd: str, root: str | None) -> str:
        is_elsewhere = os.path.isabs(path) or root is None or os.path.lexists(os.path.join(cwd, path))
        from_root = path if is_elsewhere or root is None else os.path.join(root, path)
        return from_root if os.path.lexists(from_root) else path

    def is_in_state(self, path: str, cwd: str) -> bool:
        """Whether a path leads into the folder of the state. Raises as `place`."""
        state = os.path.realpath(self._repository.state_folder)
        return f"{_whole(path, cwd)}{os.sep}".startswith(f"{state}{os.sep}")

    def sorted_by_tree(self, wishes: Iterable[IntendedWrite], cwd: str) -> dict[str, list[IntendedWrite]]:
        """Return the wishes by working tree, with paths inside it; those for other files are left out.

        A move belongs to each tree that it touches; its paths elsewhere are absolute.
        """
        found: dict[str, list[IntendedWrite]] = {}
        for wish in wishes:
            places = {path: self.place(path, cwd) for path in is_about((wish,))}
            for root in dict.fromkeys(place[0] for place in places.values() if place):
                seen = {
                    path: place[1] if place and place[0] == root else _whole(path, cwd)
                    for path, place in places.items()
                }
                here = replace(wish, path=seen.get(wish.path, wish.path))
                if isinstance(here, Patched) and here.to:
                    here = replace(here, to=seen[here.to])
                found.setdefault(root, []).append(here)
        return found


def _whole(path: str, cwd: str) -> str:
    """Return the path from the root of all, with every link followed.

    It must name the same file for every program that writes there. Some programs resolve `..` by name, others, as the
    system does, by the folder that a link leads to.
    """
    named = os.path.join(cwd, os.path.expanduser(path))
    if len(named) > _LONGEST:
        raise _invalid(path, "is longer than the name of any file", "name the file in fewer characters")
    try:
        whole = os.path.realpath(named)
        by_name = os.path.realpath(os.path.normpath(named)) if os.pardir in named else whole
        is_own = _leads_through_own(named)
    except ValueError as fault:  # a zero byte, or half a surrogate pair
        raise _invalid(
            path, "is no name that a file can have", "name the file in printable UTF-8 characters"
        ) from fault
    if whole != by_name:
        raise _invalid(path, "goes up from where a link leads", "name the file without `..`")
    if is_own:
        raise _invalid(path, "is another file for each process", "name the file by where it is")
    return whole


def _leads_through_own(path: str) -> bool:
    """Whether a path goes through files that differ for each process: its working folder, its open files."""
    todo, done, links = path.split(os.sep)[::-1], os.sep, 0
    while todo and links < _MOST_LINKS:
        part = todo.pop()
        done = os.path.normpath(os.path.join(done, part))
        if done in _OWN:
            return True
        with suppress(OSError):
            target = os.readlink(done)
            done, links = os.path.dirname(done), links + 1
            todo += target.split(os.sep)[::-1]
            done = os.sep if os.path.isabs(target) else done
    return False


def _invalid(path: str, why: str, hint: str) -> InputError:
    shown = ascii(path[:_SHOWN])
    return InputError(Code.PATH_INVALID, f"{shown} {why}", hint=hint, fields={"path": shown})
