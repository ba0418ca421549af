"""The runner of a merge queue: builds a batch on the present head, has it tested, and moves the branch to it.

Every step stands in the log before its effect, so a runner that is killed anywhere is followed by another that goes on:

1. The batch is merged, entry by entry, into commits that no branch has yet, and is recorded (TEST).
2. Its checks run on the tree of the last of these commits, and their success is recorded (APPROVE).
3. The branch moves from the batch's base to just that commit, by compare-and-swap.
4. Its entries are recorded as landed (LAND). A successor finds the commit on the branch, and does so itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final, Protocol

from commonhold.coordinator.request_shapes import one_line
from commonhold.coordinator.roles import Stop
from commonhold.kernel.entry import EntryMove, EntryRecord, EntryState, Fault, RepairPacket
from commonhold.landing.commands import EntryStep
from commonhold.landing.order import next_batch
from commonhold.workspace.git.integration import Move, Moving

MOST_IN_BATCH: Final = 8


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of checks on a tree: whether all passed; else the first that did not, why, and the end of its output.

    `is_stopped`: they were ended before they had a result.
    """

    passed: bool
    check: str = ""
    why: str = ""
    output: str = ""
    is_stopped: bool = False


class QueuePort(Protocol):
    """The entries of one branch, under the runner's lease. Both methods raise QueueLostError when that has ended."""

    def entries(self) -> tuple[EntryRecord, ...]:
        """Return the entries that have not ended, oldest first."""
        ...

    def post(self, *steps: EntryStep) -> tuple[EntryRecord, ...]:
        """Post steps, all or none, and return the entries after them: none if one of them has moved on."""
        ...


class BranchPort(Protocol):
    """The branch that the entries land on, and merges that are made for it. Only `move` and `attribute` write refs."""

    def head(self) -> str:
        """Return the commit of the branch."""
        ...

    def is_part(self, commit: str, head: str) -> bool:
        """Whether a commit is part of `head`."""
        ...

    def touched(self, commit: str, head: str) -> frozenset[str]:
        """Return the canonical keys that a commit changes, compared with its common ancestor with `head`."""
        ...

    def merged(self, record: EntryRecord, head: str, *, has_checks: bool) -> str | RepairPacket:
        """Return the commit that merges an entry into `head`, or why not. `has_checks`: they decide suspicions."""
        ...

    def beside(self, commit: str, head: str) -> tuple[str, ...]:
        """Return the ids of the entries that have landed since a commit left the branch."""
        ...

    def move(self, old: str, new: str) -> Move:
        """Move the branch from `old` to `new`, by compare-and-swap."""
        ...

    def attribute(self, record: EntryRecord) -> None:
        """Note session, agent and task at the commits that a landed entry has added; again does no harm."""
        ...


class ChecksPort(Protocol):
    """The checks of the project."""

    @property
    def everywhere(self) -> tuple[str, ...]:
        """Return the checks that every tree must pass."""
        ...

    def report(self, commit: str, checks: Sequence[str], stop: Stop) -> CheckReport:
        """Run checks, in their order, on a fresh copy of the tree of a commit; end them when `stop` is set."""
        ...


class QueueLostError(Exception):
    """The lease of the runner has ended, or another has taken the queue over. `why` is a sentence."""

    def __init__(self, why: str) -> None:
        """Say why."""
        super().__init__(why)
        self.why = why


class Turn(Enum):
    """The result of a turn of the runner: it worked, found nothing to do, or was held up by something outside."""

    WORKED = auto()
    IDLE = auto()
    HELD = auto()


class QueueRunner:
    """Lands the entries of one branch, turn by turn. Its memory only saves work: all that counts is in the log."""

    def __init__(self, queue: QueuePort, branch: BranchPort, checks: ChecksPort, most: int = MOST_IN_BATCH) -> None:
        """Land the entries of `queue` on `branch`, at most `most` at a time."""
        self._queue = queue
        self._branch = branch
        self._checks = checks
        self._most = self._size = most
        self._passing: set[str] = set()
        self._keys: dict[str, frozenset[str]] = {}
        self._merges: dict[tuple[str, str], str] = {}
        self.held = ""

    def turn(self, stop: Stop) -> Turn:
        """Finish a batch that was begun, or build, test and land the next one. Raises QueueLostError.

        When it is HELD, `held` says by what.
        """
        entries = self._queue.entries()
        head = self._branch.head()
        if testing := [each for each in entries if each.state is EntryState.TESTING]:
            return self._finished(testing, head)
        batch = next_batch(entries, self._touched(entries, head), head, self._size)
        if not batch:
            self.held = next((each.note for each in entries if each.held_at == head), "")
            return Turn.HELD if self.held else Turn.IDLE
        self._merges = {}
        while batch:
            records = self._built(batch, head)
            if not records:
                return Turn.WORKED
            report = self._checks.report(records[-1].tip, self._checks_of(records), _Watch(self, records, stop))
            if report.is_stopped and stop.is_set():
                self._requeue(self._still(records), "its runner was stopped")
                return Turn.WORKED
            if not report.is_stopped and (outcome := self._judged(records, report, stop)):
                return outcome
            # Some have left the batch: the merges before them stay, and no other entry joins.
            batch = self._requeue(self._still(records), "another entry left its batch")
        return Turn.WORKED

    def _touched(self, entries: Iterable[EntryRecord], head: str) -> dict[str, frozenset[str]]:
        for each in entries:
            if each.entry.commit not in self._keys:
                self._keys[each.entry.commit] = self._branch.touched(each.entry.commit, head)
        return {each.id: self._keys[each.entry.commit] for each in entries}

    def _checks_of(self, records: Iterable[EntryRecord]) -> tuple[str, ...]:
        own = (check for each in records for check in each.entry.checks)
        return tuple(dict.fromkeys((*self._checks.everywhere, *own)))

    def _built(self, batch: Sequence[EntryRecord], head: str) -> tuple[EntryRecord, ...]:
        """Merge the entries one after the other, and record the batch; entries that cannot be merged are refused.

        An entry that conflicts only with one before it in the batch stays in the queue: that one may not land.
        """
        tip = head
        chain: list[tuple[EntryRecord, str]] = []
        for record in batch:
            has_checks = bool(self._checks.everywhere or record.entry.checks)
            if self._branch.is_part(record.entry.commit, head):
                note = "its commit was part of the branch already"
                self._queue.post(replace(_step(record, EntryMove.LAND, note), built=record.entry.commit))
                continue
            found = self._merged(record, tip, has_checks=has_checks)
            if isinstance(found, RepairPacket) and tip != head:
                alone = self._merged(record, head, has_checks=has_checks)
                found = alone if isinstance(alone, RepairPacket) else ""
            if isinstance(found, RepairPacket):
                self._queue.post(replace(_step(record, EntryMove.REFUSE, found.why), packet=found))
            elif found:
                tip = found
                chain.append((record, tip))
        if not chain:
            return ()
        return self._queue.post(
            *(replace(_step(record, EntryMove.TEST), base=head, built=built, tip=tip) for record, built in chain)
        )

    def _merged(self, record: EntryRecord, head: str, *, has_checks: bool) -> str | RepairPacket:
        """Merge an entry into `head`, once for a turn: after one has left, only those behind it are merged again."""
        known = self._merges.get((head, record.entry.commit))
        if known is not None:
            return known
        found = head if self._branch.is_part(record.entry.commit, head) else None
        made = found or self._branch.merged(record, head, has_checks=has_checks)
        if isinstance(made, str):
            self._merges[head, record.entry.commit] = made
        return made

    def _judged(self, records: Sequence[EntryRecord], report: CheckReport, stop: Stop) -> Turn | None:
        """Land the batch, or look for the culprit; None if an entry has left it meanwhile.

        After a failure batches are smaller: so among many culprits, too, something lands every few builds.
        """
        if not report.passed:
            self._size = max(1, len(records) // 2)
            return self._failed(records, report, stop)
        approved = self._queue.post(*(_step(each, EntryMove.APPROVE) for each in records))
        if not approved:
            return None
        self._size = min(self._most, 2 * self._size)
        self._passing.add(approved[-1].tip)
        return self._landed(approved)

    def _failed(self, records: Sequence[EntryRecord], report: CheckReport, stop: Stop) -> Turn:
        """Halve a batch that fails; refuse a single entry, unless the branch itself fails the same check."""
        (first, *others), batch = records, records[0].batch
        failure = f"the check `{report.check}` failed ({report.why})"
        # The culprit is among these, so the rest of an earlier failed batch is no longer suspected.
        group, own = first.suspected_in, {each.id for each in records}
        rest = [each for each in self._queue.entries() if group and each.suspected_in == group and each.id not in own]
        cleared = [_step(each, EntryMove.REQUEUE) for each in rest]
        if others:
            halved = [replace(_step(each, EntryMove.REQUEUE, failure), suspected_in=batch) for each in records]
            self._queue.post(*halved, *cleared)
        elif alone := self._failure_of_branch(first.base, report.check, stop):
            if alone.is_stopped:
                self._requeue(records, "its runner was stopped")
                return Turn.WORKED
            note = f"{first.entry.onto} itself fails the check `{report.check}`; this waits until that is repaired"
            self._queue.post(replace(_step(first, EntryMove.REQUEUE, note), held_at=first.base))
        else:
            beside = self._branch.beside(first.entry.commit, first.base)
            packet = RepairPacket(
                Fault.CHECK_FAILED, one_line(failure), first.base, (), report.check, report.output, beside
            )
            self._queue.post(replace(_step(first, EntryMove.REFUSE, packet.why), packet=packet), *cleared)
        return Turn.WORKED

    def _failure_of_branch(self, head: str, check: str, stop: Stop) -> CheckReport | None:
        """Return how the branch alone fails a check of the project; None if it passes.

        It need not pass the checks of a single entry.
        """
        if check not in self._checks.everywhere or head in self._passing:
            return None
        report = self._checks.report(head, (check,), stop)
        if not report.passed:
            return report
        self._passing.add(head)
        return None

    def _landed(self, records: Sequence[EntryRecord]) -> Turn:
        """Move the branch to a batch that has passed."""
        move = self._branch.move(records[0].base, records[-1].tip)
        self.held = move.why
        if move.moving is Moving.BLOCKED:
            return Turn.HELD
        if move.moving is Moving.STALE:
            self._requeue(records, "the branch was moved while it was tested")
            return Turn.WORKED
        self._record(records)
        return Turn.WORKED

    def _record(self, records: Sequence[EntryRecord]) -> None:
        # An entry that another one contains came with the merge of that one, which is attributed already.
        for each in {each.built: each for each in reversed(records)}.values():
            self._branch.attribute(each)
        self._queue.post(*(replace(_step(each, EntryMove.LAND), built=each.built) for each in records))

    def _finished(self, testing: Sequence[EntryRecord], head: str) -> Turn:
        """Finish the batch of a runner that has ended in its midst, or whose move was held up."""
        if not all(each.is_approved for each in testing):
            self._requeue(testing, "its batch was not finished")
        elif self._branch.is_part(testing[0].tip, head):
            self._record(testing)
        else:
            return self._landed(_in_order(testing))
        return Turn.WORKED

    def _requeue(self, records: Sequence[EntryRecord], note: str) -> tuple[EntryRecord, ...]:
        """Take entries out of their batch; they stay suspected, if they were."""
        steps = [replace(_step(each, EntryMove.REQUEUE, note), suspected_in=each.suspected_in) for each in records]
        return self._queue.post(*steps) if steps else ()

    def _still(self, records: Sequence[EntryRecord]) -> tuple[EntryRecord, ...]:
        """Return the entries that are still in the batch, in its order."""
        now = {each.id: each for each in self._queue.entries()}
        found = (now[each.id] for each in records if each.id in now)
        batch = records[0].batch
        return tuple(each for each in found if each.state is EntryState.TESTING and each.batch == batch)

    def has_left(self, records: Sequence[EntryRecord]) -> bool:
        """Whether an entry has left the batch since it was recorded."""
        return len(self._still(records)) < len(records)


class _Watch:
    """Ends checks when the runner stops, or when an entry leaves the batch that they are about."""

    def __init__(self, runner: QueueRunner, records: Sequence[EntryRecord], stop: Stop) -> None:
        self._runner = runner
        self._records = records
        self._stop = stop

    def is_set(self) -> bool:
        return self._stop.is_set() or self._runner.has_left(self._records)

    def wait(self, timeout: float | None = None) -> bool:
        return self._stop.wait(timeout)


def _in_order(records: Sequence[EntryRecord]) -> tuple[EntryRecord, ...]:
    """Return the entries of a batch with the last one, whose merge is the tip, at the end."""
    return tuple(sorted(records, key=lambda each: each.built == each.tip))


def _step(record: EntryRecord, move: EntryMove, note: str = "") -> EntryStep:
    return EntryStep(record.id, move, record.last, note)
