"""Which working tree of this repository a path of an agent's is in, if it is in one."""

import os
from collections.abc import Iterable
from dataclasses import replace

from commonhold.adapters.repository import Repository, find_repository
from commonhold.app.happenings import Patched, Wish, is_about
from commonhold.domain.errors import Code, CommonholdError, InputError


class Trees:
    """The working trees of one repository: all that have one state folder."""

    def __init__(self, repository: Repository) -> None:
        """Know `repository` and its worktrees."""
        self._repository = repository

    def around(self, folder: str) -> str | None:
        """The root of the working tree around a folder; None where it is not of this repository."""
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
        """The working tree of a path, and the path inside it with all links followed; None where it is in none.

        Raises InputError `PATH_INVALID` for what no file can be named.
        """
        whole = _whole(path, cwd)
        root = self.around(os.path.dirname(whole))
        if root is None or not whole.startswith(f"{root}{os.sep}"):
            return None
        inside = os.path.relpath(whole, root)
        return None if inside.split(os.sep, 1)[0] == ".git" else (root, inside)

    def is_in_state(self, path: str, cwd: str) -> bool:
        """Whether a path leads into the folder where the state is kept. Raises as `place`."""
        state = os.path.realpath(self._repository.state_folder)
        return f"{_whole(path, cwd)}{os.sep}".startswith(f"{state}{os.sep}")

    def sorted_by_tree(self, wishes: Iterable[Wish], cwd: str) -> dict[str, list[Wish]]:
        """The wishes by working tree, with paths inside it; those for other files are left out.

        A move is a matter of each tree that it touches; what of it is elsewhere has an absolute path.
        """
        found: dict[str, list[Wish]] = {}
        for wish in wishes:
            places = [self.place(path, cwd) for path in is_about((wish,))]
            for root in dict.fromkeys(place[0] for place in places if place):
                here = replace(wish, path=self._seen_from(root, wish.path, cwd))
                if isinstance(here, Patched) and here.to:
                    here = replace(here, to=self._seen_from(root, here.to, cwd))
                found.setdefault(root, []).append(here)
        return found

    def _seen_from(self, root: str, path: str, cwd: str) -> str:
        place = self.place(path, cwd)
        return place[1] if place and place[0] == root else _whole(path, cwd)


def _whole(path: str, cwd: str) -> str:
    """The path from the root of all, with every link followed."""
    try:
        return os.path.realpath(os.path.join(cwd, os.path.expanduser(path)))
    except ValueError as fault:  # a zero byte, or half a surrogate pair
        raise _invalid(path) from fault


def _invalid(path: str) -> InputError:
    return InputError(
        Code.PATH_INVALID,
        f"{path!a} is no name that a file can have",
        hint="name the file in printable UTF-8 characters",
        fields={"path": ascii(path)},
    )
