"""Which folders a shell command gets to write: its session's, less those where others are at work. Pure.

Paths are relative to the working tree; a folder ends in a slash, and the root is the empty path.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.domain.keys import FILE, canonical
from commonhold.domain.lease import Lease
from commonhold.domain.slots import path_of_slot

ROOT: Final = ""


@dataclass(frozen=True, slots=True)
class Holding:
    """A path that somebody holds, whole or in part, and what for."""

    path: str
    holder: str
    task: str


@dataclass(frozen=True, slots=True)
class Sought:
    """A path that a command is to write, and the nearest folder above it that is there.

    Of one that is written `in_place` the folder is not needed.
    """

    path: str
    folder: str
    in_place: bool


@dataclass(frozen=True, slots=True)
class Withheld:
    """A folder that is not given, because of what another holds in it; `path` is what it was sought for."""

    folder: str
    because: Holding
    path: str


@dataclass(frozen=True, slots=True)
class Given:
    """What may be written (folders and single files), what in it may not, and what was asked for in vain."""

    writable: tuple[str, ...]
    masked: tuple[str, ...] = ()
    withheld: tuple[Withheld, ...] = ()

    def reaches(self, path: str) -> bool:
        """Whether the file at a path can be written."""
        return is_in_any(path, self.writable) and not is_in_any(path, self.masked)


def holdings(leases: Iterable[Lease]) -> tuple[Holding, ...]:
    """What of the files is held; also by who just writes one."""
    return tuple(
        Holding(path, lease.holder, lease.task)
        for lease in leases
        for key in lease.keys
        if (path := _path(key)) is not None
    )


def parted(leases: Collection[Lease], holder: str) -> tuple[tuple[Holding, ...], tuple[Holding, ...]]:
    """What of the files a holder has, and what others have."""
    mine = (each for each in leases if each.holder == holder)
    return holdings(mine), holdings(each for each in leases if each.holder != holder)


def _path(key: str) -> str | None:
    slot = path_of_slot(key)
    if slot is not None:
        return slot
    canon = canonical(key)
    if canon.scheme != FILE:
        return None
    path = "/".join(canon.path)
    return f"{path}/" if canon.is_folder and path else path


def give(sought: Sequence[Sought], free: Collection[str], others: Sequence[Holding], *, can_mask: bool) -> Given:
    """What a command gets: what is `free` for all, and the folders of what it seeks.

    A folder where another holds something is given only where that can be taken out of it again (`can_mask`).
    """
    writable = dict.fromkeys(free)
    masked: dict[str, None] = {}
    withheld: dict[str, Withheld] = {}
    for each in sought:
        obstacles = [other for other in others if _overlaps(other.path, each.folder)]
        if obstacles and (not can_mask or any(is_in(each.folder, other.path) for other in obstacles)):
            if each.in_place and not any(_overlaps(other.path, each.path) for other in others):
                writable[each.path] = None
            withheld.setdefault(each.path, Withheld(each.folder, obstacles[0], each.path))
        else:
            writable[each.folder] = None
            masked.update(dict.fromkeys(other.path for other in obstacles))
    return Given(tuple(writable), tuple(masked), tuple(withheld.values()))


def _overlaps(one: str, other: str) -> bool:
    return is_in(one, other) or is_in(other, one)


def is_in(path: str, place: str) -> bool:
    """Whether a path is a place, or in it."""
    return place in (path, ROOT) or (place.endswith("/") and path.startswith(place))


def is_in_any(path: str, places: Iterable[str]) -> bool:
    """Whether a path is one of some places, or in it."""
    return any(is_in(path, place) for place in places)
