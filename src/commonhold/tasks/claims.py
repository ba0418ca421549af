"""Decisions about claims: the holder of each task, the next task, and the files that a claim changes.

Everything here is pure. A board is one commit of the ref that holds the claims. A claim is made by moving that ref from
the commit of the board to a commit with these edits, by compare-and-swap; if that fails, it is not made.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from commonhold.kernel.clock import Now
from commonhold.tasks.claim_files import (
    DONE,
    PENDING,
    Board,
    Lock,
    Task,
    fence_path,
    fence_text,
    lock_path,
    lock_text,
)


class State(StrEnum):
    """Where a task stands."""

    READY = "ready"
    BLOCKED = "blocked"
    HELD = "held"
    STALE = "stale"
    DONE = "done"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Sighting:
    """When this clone first saw a lock with these bytes, on its own clock."""

    object_id: str
    epoch: str
    ticks: float


Sightings = Mapping[str, Sighting]


@dataclass(frozen=True, slots=True)
class Standing:
    """A task, its state, and the reason in words where it is not ready."""

    task: Task
    state: State
    why: str = ""
    lock: Lock | None = None
    unchanged_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Edit:
    """A commit to be made on top of the board: paths with their new bytes (None: the file goes), and its subject."""

    action: str
    subject: str
    lock: Lock
    files: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who claims: the agent's name, the id of the claim to be made, and for how long a silence is tolerated."""

    agent: str
    claim: str
    ttl_seconds: float
    claimed: str


def sighted(before: Sightings, board: Board, now: Now) -> dict[str, Sighting]:
    """Record when each lock was first seen with its present bytes.

    A clone can only count what it has seen itself: the clocks of other machines, and times written into files, have
    no say. After a reboot the count begins again.
    """
    return {
        name: known
        if (known := before.get(name)) and (known.object_id, known.epoch) == (lock.object_id, now.epoch)
        else Sighting(lock.object_id, now.epoch, now.ticks)
        for name, lock in board.locks.items()
    }


def standings(board: Board, sightings: Sightings, now: Now) -> list[Standing]:
    """Every task's state, in the order of their names. `sightings` are those of this very board."""
    cycles = _cycles(board)
    names = sorted({*board.tasks, *board.locks, *board.done})
    return [_standing(board, name, sightings, now, cycles) for name in names]


def _standing(board: Board, name: str, sightings: Sightings, now: Now, cycles: Mapping[str, str]) -> Standing:
    task = board.tasks.get(name) or Task(name)
    if name in board.done:
        return Standing(task, State.DONE)
    lock = board.locks.get(name)
    if lock is not None:
        silent = now.ticks - sightings[name].ticks
        state = State.STALE if silent >= lock.ttl_seconds else State.HELD
        return Standing(task, state, f"claimed by {lock.agent or 'an unnamed agent'}", lock, silent)
    if task.problem:
        return Standing(task, State.INVALID, task.problem)
    if name in cycles:
        return Standing(task, State.BLOCKED, f"its needs form a cycle: {cycles[name]}")
    missing = [each for each in task.needs if each not in board.done]
    if missing:
        unknown = [each for each in missing if each not in board.tasks and each not in board.locks]
        known = f"needs {', '.join(missing)}"
        return Standing(task, State.BLOCKED, f"{known} (there is no task {', '.join(unknown)})" if unknown else known)
    return Standing(task, State.READY)


def _cycles(board: Board) -> dict[str, str]:
    """The tasks that need themselves, by whatever detour, each with the way round in words."""
    found: dict[str, str] = {}
    settled: set[str] = set(board.done)
    for start in sorted(board.tasks):
        # Depth-first with a stack of our own: a long chain of needs must not exhaust Python's.
        path: list[str] = []
        waiting: list[Iterator[str]] = [iter((start,))]
        while waiting:
            name = next(waiting[-1], None)
            if name is None:
                waiting.pop()
                settled.update(path[-1:])
                del path[-1:]
            elif name in path:
                ring = path[path.index(name) :]
                found |= dict.fromkeys(ring, " → ".join((*ring, name)))
            elif name not in settled and name in board.tasks:
                path.append(name)
                waiting.append(iter(board.tasks[name].needs))
    return found


def next_task(found: list[Standing], agent: str) -> Standing | None:
    """The task to claim: ready before stale, higher priority first.

    Among equals each agent begins elsewhere (rendezvous hashing), so that many at once seldom race for one.
    """

    def rank(each: Standing) -> tuple[bool, float, bytes]:
        lot = hashlib.sha256(f"{agent}\0{each.task.name}".encode("utf-8", "surrogatepass")).digest()
        return each.state is State.STALE, -each.task.priority, lot

    free = [each for each in found if each.state in (State.READY, State.STALE) and not each.task.problem]
    return min(free, key=rank, default=None)


def claim(board: Board, standing: Standing, by: Claimant) -> Edit:
    """Claim a task that is ready, or take over one whose claim is stale."""
    name, before = standing.task.name, standing.lock
    fence = max(board.generation, board.fences.get(name, 0), before.fence if before else 0) + 1
    lock = Lock(name, "", by.agent, by.claimed, by.claim, fence, by.ttl_seconds)
    files = {lock_path(name): lock_text(lock), fence_path(name): fence_text(fence)}
    if before is None:
        return Edit("claim", f"Claim {name} for {by.agent}", lock, files)
    return Edit("takeover", f"Take {name} over from {before.agent or 'an unnamed agent'} for {by.agent}", lock, files)


def beat(board: Board, name: str, claim_id: str) -> Edit | None:
    """Show that a claim is alive; None where it is no longer this one."""
    lock = board.locks.get(name)
    if lock is None or lock.claim != claim_id:
        return None
    alive = replace(lock, heartbeat=lock.heartbeat + 1)
    return Edit("beat", f"Keep {name} for {lock.agent}", alive, {lock_path(name): lock_text(alive)})


def release(board: Board, name: str, claim_id: str) -> Edit | None:
    """End a claim, its task not done; the fence stays behind. None where the claim is no longer this one."""
    lock = board.locks.get(name)
    if lock is None or lock.claim != claim_id:
        return None
    files = {lock_path(name): None, fence_path(name): fence_text(lock.fence)}
    return Edit("release", f"Release {name}, claimed by {lock.agent}", lock, files)


def complete(board: Board, name: str, claim_id: str) -> Edit | None:
    """End a claim, its task done: the task's file moves on. None where the claim is no longer this one."""
    ended = release(board, name, claim_id)
    if ended is None:
        return None
    path, source = board.sources.get(name, (f"{PENDING}/{name}.yml", b""))
    files = {**ended.files, path: None, f"{DONE}/{name}.yml": source}
    return Edit("done", f"Complete {name}, claimed by {ended.lock.agent}", ended.lock, files)
