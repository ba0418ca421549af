"""The working trees of a repository, as git has recorded them."""

import os
from pathlib import Path
from typing import Final

from commonhold.machine.plain_files import read

_DOT_GIT: Final = ".git"
_LINKED: Final = "worktrees"


def worktrees(common: str) -> tuple[str, ...]:
    """The roots of all working trees of the repository whose folder, common to them, is `common`; links followed."""
    main = [os.path.dirname(common)] if os.path.basename(common) == _DOT_GIT else []
    linked = (_root(place) for place in sorted(Path(common, _LINKED).glob("*/gitdir")))
    return tuple(dict.fromkeys(os.path.realpath(root) for root in (*main, *linked) if root and os.path.isdir(root)))


def main_of(root: str) -> str | None:
    """Return the main working tree of the linked one at `root`; None if that is not linked, or there is no main one."""
    content = read(os.path.join(root, _DOT_GIT))
    if content is None:  # in the main one it is a folder
        return None
    told = os.fsdecode(content)
    *main, common, linked, _ = ("", "", *Path(os.path.realpath(Path(root, told.removeprefix("gitdir:").strip()))).parts)
    return str(Path(*main)) if (common, linked) == (_DOT_GIT, _LINKED) else None


def is_recorded(root: str, other: str) -> bool:
    """Return whether git has a linked working tree at `root` in its records; `other` is one of the same repository."""
    place = Path(other, _DOT_GIT)
    content = read(str(place))
    if content is not None:  # that one is linked, too: its own record lies beside those of the others
        own = Path(other, os.fsdecode(content).removeprefix("gitdir:").strip())
        place = Path(os.path.realpath(own)).parent.parent
    return root in {_root(each) for each in (place / _LINKED).glob("*/gitdir")}


def _root(place: Path) -> str | None:
    content = read(str(place))
    if content is None:
        return None
    # Git may have been asked for paths that are relative to its record.
    return os.path.dirname(os.path.realpath(place.parent / os.fsdecode(content).strip()))
