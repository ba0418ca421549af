"""Claiming tasks through a git remote: read the ref, decide, push, and begin again if another push came first.

A claim, a heartbeat and the end of a claim are one commit each. The remote moves its ref only from the commit that we
read to the one that we made, so exactly one of several claims for a task takes effect. No server but git is needed.

Limits of a git remote: it wakes no one when a task becomes free, and only a clone that has itself watched a lock stay
unchanged for a whole time to live can find its claim stale.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from commonhold.kernel.clock import Now
from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.tasks import claims
from commonhold.tasks.claim_files import Board, Lock
from commonhold.tasks.claims import Claimant, Edit, Sighting, Standing, State

MOST_TRIES: Final = 100
_SHORTEST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 1.0
_RETRY_SECONDS: Final = 5.0


class ClaimsRef(Protocol):
    """The ref of a remote that holds the claims."""

    def read(self) -> Board:
        """Return the board at the remote's present commit. Raises StoreError where the remote cannot be reached."""

    def push(self, board: Board, edit: Edit) -> bool:
        """Move the ref from the board's commit to one with this edit.

        False where the ref has moved meanwhile, or where it is not known whether the push took effect: read again.
        Raises StoreError where the remote refuses for another reason.
        """


@dataclass(frozen=True, slots=True)
class Mine:
    """A claim that an agent of this clone has made."""

    agent: str
    claim: str
    fence: int


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memory of a clone: when it first saw each lock in its present form, and its own claims, by task."""

    sightings: Mapping[str, Sighting] = field(default_factory=dict)
    mine: Mapping[str, Mine] = field(default_factory=dict)


class Memory(Protocol):
    """Where a clone remembers that."""

    def load(self) -> Remembered:
        """Return the last saved memory; an empty one if it cannot be read."""

    def save(self, remembered: Remembered) -> None:
        """Keep it durably."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """The task is this agent's: newly, or since before this call. `was` names the agent of a claim taken over."""

    standing: Standing
    lock: Lock
    is_new: bool
    was: str = ""


@dataclass(frozen=True, slots=True)
class NothingToClaim:
    """No task can be claimed now, or not the one that was named; `standings` say why."""

    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """The claim was kept alive or ended, as asked."""

    action: str
    lock: Lock


@dataclass(frozen=True, slots=True)
class Lost:
    """The claim is no longer this agent's; `now` is the lock that stands in its place, if any."""

    task: str
    now: Lock | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What claiming takes from outside; `pause` takes seconds, `chance` gives numbers in [0, 1)."""

    now: Callable[[], Now]
    new_id: Callable[[str], str]
    pause: Callable[[float], None]
    chance: Callable[[], float]
    written: Callable[[float], str]
    """Makes text for people of a Unix time."""


class Claims:
    """The claims on one ref of one remote, as one agent of this clone sees them. One call at a time per clone."""

    def __init__(self, ref: ClaimsRef, memory: Memory, around: Surroundings, agent: str) -> None:
        """Act for `agent` on `ref`."""
        self._ref, self._memory, self._around, self._agent = ref, memory, around, agent

    def standings(self) -> tuple[Standing, ...]:
        """Return every task with its state."""
        return tuple(self._look()[1])

    def claim(self, wanted: str | None, ttl_seconds: float) -> Claimed | NothingToClaim:
        """Claim `wanted`, or the best task that is free. An agent that has a claim already is given that again.

        Raises InputError `FILE_NOT_FOUND` where there is no task `wanted`, and StoreError.
        """
        for number in range(MOST_TRIES):
            board, found, remembered = self._look()
            held = self._already(board, found, remembered, wanted)
            if held is not None:
                return held
            standing = _named(found, wanted) if wanted else claims.next_task(found, self._agent)
            if standing is None or standing.state not in (State.READY, State.STALE):
                return NothingToClaim(tuple(found) if standing is None else (standing,))
            now = self._around.now()
            claim_id = self._id_for(board, standing, remembered)
            by = Claimant(self._agent, claim_id, ttl_seconds, self._around.written(now.wall))
            edit = claims.claim(board, standing, by)
            # Remembered first: a process that ends right after its push still owns the claim.
            mine = Mine(self._agent, edit.lock.claim, edit.lock.fence)
            self._memory.save(replace(remembered, mine={**remembered.mine, edit.lock.task: mine}))
            if self._ref.push(board, edit):
                return Claimed(standing, edit.lock, is_new=True, was=standing.lock.agent if standing.lock else "")
            self._pause(number)
        raise _busy()

    def beat(self, task: str) -> Changed | Lost:
        """Show that this agent's claim on `task` is alive. Raises StoreError."""
        return self._change(task, claims.beat)

    def release(self, task: str) -> Changed | Lost:
        """Give `task` back, not done. Raises StoreError."""
        return self._change(task, claims.release)

    def complete(self, task: str) -> Changed | Lost:
        """Record that `task` is done, which frees those that need it. Raises StoreError."""
        return self._change(task, claims.complete)

    def _look(self) -> tuple[Board, list[Standing], Remembered]:
        board, before, now = self._ref.read(), self._memory.load(), self._around.now()
        remembered = replace(before, sightings=claims.sighted(before.sightings, board, now))
        if remembered != before:
            self._memory.save(remembered)
        return board, claims.standings(board, remembered.sightings, now), remembered

    def _already(
        self, board: Board, found: list[Standing], remembered: Remembered, wanted: str | None
    ) -> Claimed | None:
        for each in found:
            mine = remembered.mine.get(each.task.name)
            lock = board.locks.get(each.task.name)
            is_asked = wanted is None or wanted == each.task.name
            if not is_asked or each.state is State.DONE or mine is None or lock is None:
                continue
            if (mine.agent, mine.claim) == (self._agent, lock.claim):
                return Claimed(each, lock, is_new=False)
        return None

    def _id_for(self, board: Board, standing: Standing, remembered: Remembered) -> str:
        """Return the id of a claim to be made: that of an earlier one whose push may still arrive, else a new one.

        A process that was killed may have left its git pushing; whichever push comes first, the claim is then known.
        """
        mine, lock = remembered.mine.get(standing.task.name), standing.lock
        newest = max(board.fences.get(standing.task.name, 0), lock.fence if lock else 0)
        if mine is not None and mine.agent == self._agent and newest < mine.fence:
            return mine.claim
        return self._around.new_id("claim")

    def _change(self, task: str, make: Callable[[Board, str, str], Edit | None]) -> Changed | Lost:
        pushed: Edit | None = None
        for number in range(MOST_TRIES):
            board, _, remembered = self._look()
            mine = remembered.mine.get(task)
            if mine is None or mine.agent != self._agent:
                return Lost(task, board.locks.get(task))
            edit = make(board, task, mine.claim)
            if edit is None:
                # A push whose answer was lost may have ended the claim.
                if pushed is not None and pushed.action != "beat" and task not in board.locks:
                    return self._ended(pushed, remembered)
                return Lost(task, board.locks.get(task))
            if self._ref.push(board, edit):
                return self._ended(edit, remembered)
            pushed = edit
            self._pause(number)
        raise _busy()

    def _ended(self, edit: Edit, remembered: Remembered) -> Changed:
        if edit.action != "beat":
            others = {name: each for name, each in remembered.mine.items() if name != edit.lock.task}
            self._memory.save(replace(remembered, mine=others))
        return Changed(edit.action, edit.lock)

    def _pause(self, number: int) -> None:
        """Pause for a random time that grows with each try, so that the loser of one race does not lose them all."""
        longest = min(_LONGEST_PAUSE, _SHORTEST_PAUSE * 2 ** min(number, 10))
        self._around.pause(longest * self._around.chance())


def _named(found: list[Standing], wanted: str) -> Standing:
    standing = next((each for each in found if each.task.name == wanted), None)
    if standing is None:
        raise InputError(
            Code.FILE_NOT_FOUND,
            f"there is no task {wanted!r}",
            hint="`commonhold claim list` shows the tasks; a new one is a file tasks/pending/NAME.yml, pushed",
            fields={"task": wanted},
        )
    return standing


def _busy() -> StoreError:
    return StoreError(
        Code.REPOSITORY_BUSY,
        f"other pushes to the remote came first {MOST_TRIES} times in a row",
        hint="repeat the same call; claims on a ref of their own (--ref refs/commonhold/claims) meet fewer pushes",
        retry_after_seconds=_RETRY_SECONDS,
    )
