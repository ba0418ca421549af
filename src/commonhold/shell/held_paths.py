"""The files and folders that sessions hold: shell commands of others cannot write these. Pure.

Paths are relative to the working tree; a folder ends in a slash, and the root is the empty path.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.keys import FILE, canonical
from commonhold.kernel.lease import Lease
from commonhold.kernel.purposes import OURS
from commonhold.kernel.write_slots import path_of_slot, slot_of

ROOT: Final = ""
OF_COMMAND: Final = "shell"
"""The prefix of the acquisition id of leases that a shell command has while it runs."""


@dataclass(frozen=True, slots=True)
class Holding:
    """A path that a holder has leased in whole or in part, for what task, and until when at most (wall time).

    `is_slot`: its holder's tool is writing it at present. `is_of_command`: a shell command has it only while it runs.
    `is_for_edits`: it was taken for the holder's edits, without its request.
    """

    path: str
    holder: str
    task: str = ""
    expires_at: float = 0.0
    is_slot: bool = False
    is_of_command: bool = False
    is_for_edits: bool = False


def holdings(leases: Iterable[Lease], place: str) -> tuple[Holding, ...]:
    """Return the files that are held in the working tree with the name `place`.

    A lease that a session requested is valid in all working trees of the repository; one for its tool's writes and
    edits is valid in one tree only.
    """
    found = []
    for lease in leases:
        is_for_edits = lease.acquisition_id in OURS
        if is_for_edits and lease.worktree not in ("", place):
            continue
        is_of_command = lease.acquisition_id.startswith(OF_COMMAND)
        for key in lease.keys:
            written = path_of_slot(key)
            is_here = written is not None and str(slot_of(place, written)) == key
            path = written if is_here else path_of(key)
            if path is not None:
                until = lease.deadline.wall
                found.append(Holding(path, lease.holder, lease.task, until, is_here, is_of_command, is_for_edits))
    return tuple(found)


def path_of(key: str) -> str | None:
    """Return the path of the file or folder that a key names; None for other keys."""
    canon = canonical(key)
    if canon.scheme != FILE:
        return None
    path = "/".join(canon.path)
    return f"{path}/" if canon.is_folder and path else path


def parted(all_held: Collection[Holding], holder: str) -> tuple[tuple[Holding, ...], tuple[Holding, ...]]:
    """Split holdings into a holder's own and those of others."""
    mine = tuple(each for each in all_held if each.holder == holder)
    return mine, tuple(each for each in all_held if each.holder != holder)


def barred(all_held: Iterable[Holding], holder: str) -> tuple[Holding, ...]:
    """Return the holdings that a command of `holder` must not write.

    Excluded are the leases of running commands of others, and the edits of the session that has `holder` as its
    subagent: that session waits for the work it gave to its subagent.
    """
    others = (each for each in all_held if each.holder != holder and not each.is_of_command)
    return tuple(each for each in others if not (each.is_for_edits and holder.startswith(f"{each.holder}/")))


def overlap(one: str, other: str) -> bool:
    """Whether two paths are equal, or one of them contains the other."""
    return is_in(one, other) or is_in(other, one)


def is_in(path: str, place: str) -> bool:
    """Whether a path is `place`, or in it."""
    return place in (path, ROOT) or (place.endswith("/") and path.startswith(place))


def is_in_any(path: str, places: Iterable[str]) -> bool:
    """Whether a path is one of `places`, or in one."""
    return any(is_in(path, place) for place in places)


def meets(path: str, written: Collection[str]) -> bool:
    """Whether a path is one of the `written` files, or lies above or below one of them."""
    plain = path.rstrip("/")
    if not plain:
        return bool(written)
    parts = plain.split("/")
    is_below = any("/".join(parts[:size]) in written for size in range(1, len(parts) + 1))
    return is_below or any(each.startswith(f"{plain}/") for each in written)
