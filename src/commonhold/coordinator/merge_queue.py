"""The runner of a merge queue: builds a batch on the present head, has it tested, and moves the branch to it.

Every step stands in the log before its effect, so a runner that is killed anywhere is followed by another that goes on:

1. The batch is merged, entry by entry, into commits that no branch has yet, and is recorded (TEST).
2. Its checks run on the tree of the last of these commits, and their success is recorded (APPROVE).
3. The branch moves from the batch's base to just that commit, by compare-and-swap.
4. Its entries are recorded as landed (LAND). A successor finds the commit on the branch, and does so itself.

An error in the work on one entry returns that entry, if the same work on the branch alone succeeds; otherwise this
machine is at fault, the error is raised, and no entry is blamed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import Final, TypeVar

from commonhold.coordinator.queue_ports import BranchPort, Build, CheckReport, ChecksPort, QueuePort
from commonhold.coordinator.request_shapes import one_line
from commonhold.coordinator.roles import Stop
from commonhold.kernel.entry import EntryMove, EntryRecord, EntryState, Fault, RepairPacket
from commonhold.kernel.errors import Code, StoreError
from commonhold.landing.commands import EntryStep
from commonhold.landing.order import next_batch
from commonhold.machine.logs import Log
from commonhold.workspace.git.integration import Moving

MOST_IN_BATCH: Final = 8
_COPY_ONLY: Final = ":"
"""The check that only asks for a copy of the tree."""
_ATTEMPTS: Final = 2
_log: Final = Log(__name__)
_Answer = TypeVar("_Answer")


class Turn(Enum):
    """The result of a turn of the runner: it worked, found nothing to do, or was held up by something outside."""

    WORKED = auto()
    IDLE = auto()
    HELD = auto()


class QueueRunner:
    """Lands the entries of one branch, turn by turn. Its memory only saves work: all that counts is in the log."""

    def __init__(
        self,
        queue: QueuePort,
        branch: BranchPort,
        checks: ChecksPort,
        most: int = MOST_IN_BATCH,
        *,
        is_parallel: bool = False,
    ) -> None:
        """Land the entries of `queue` on `branch`, at most `most` at a time.

        `is_parallel`: after a failure the first entry of each batch is tested alone at the same time, so that each
        build ends at least one entry.
        """
        self._queue = queue
        self._branch = branch
        self._checks = checks
        self._most = self._size = most
        self._is_parallel = is_parallel
        self._passing: set[str] = set()
        self._failing: dict[str, CheckReport] = {}
        self._refused_at: set[str] = set()
        self._keys: dict[str, frozenset[str]] = {}
        self._merges: dict[tuple[str, str], str] = {}
        self.held = ""

    def turn(self, stop: Stop) -> Turn:
        """Finish a batch that was begun, or build, test and land the next one.

        When it is HELD, `held` says by what. Raises QueueLostError; CommonholdError and OSError if the store, the
        branch or this machine cannot be used: then the same turn may succeed later.
        """
        entries = self._queue.entries()
        head = self._branch.head() if entries else ""
        if testing := [each for each in entries if each.state is EntryState.TESTING]:
            return self._finished(testing, head)
        # A branch that failed under another runner may pass under this one, on a machine that was mended meanwhile.
        failing = head if head in self._failing or head in self._refused_at else None
        batch = next_batch(entries, self._touched(entries, head), failing, self._size)
        if not batch:
            self.held = next((each.note for each in entries if each.held_at == head), "")
            return Turn.HELD if self.held else Turn.IDLE
        self._merges = {}
        while batch:
            records = self._built(batch, head)
            if not records:
                return Turn.WORKED
            whole, *alone = self._checks.reports(self._trees(records), _Watch(self, records, stop))
            is_stopped = not whole.passed and any(each.is_stopped for each in (whole, *alone))
            if is_stopped and stop.is_set():
                self._requeue(self._still(records), "its runner was stopped")
                return Turn.WORKED
            if not is_stopped and (outcome := self._judged(records, whole, alone, stop)):
                return outcome
            # Some have left the batch: the merges before them stay, and no other entry joins.
            batch = self._requeue(self._still(records), "another entry left its batch")
        return Turn.WORKED

    def _touched(self, entries: Iterable[EntryRecord], head: str) -> dict[str, frozenset[str]]:
        for each in entries:
            if each.entry.commit not in self._keys:
                self._keys[each.entry.commit] = _tolerated(
                    frozenset[str](), self._branch.touched, each.entry.commit, head
                )
        return {each.id: self._keys[each.entry.commit] for each in entries}

    def _checks_of(self, records: Iterable[EntryRecord]) -> tuple[str, ...]:
        own = (check for each in records for check in each.entry.checks)
        return tuple(dict.fromkeys((*self._checks.everywhere, *own)))

    def _trees(self, records: Sequence[EntryRecord]) -> list[Build]:
        """Return the trees to test: that of the batch; after a failure also that of its first entry alone."""
        found = [Build(records[-1].tip, self._checks_of(records))]
        is_careful = records[0].suspected_in or self._size < self._most
        if self._is_parallel and is_careful and len(records) > 1:
            found.append(Build(records[0].built, self._checks_of(records[:1])))
        return found

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
        made = found or self._tried(record, head, has_checks=has_checks)
        if isinstance(made, str):
            self._merges[head, record.entry.commit] = made
        return made

    def _tried(self, record: EntryRecord, head: str, *, has_checks: bool) -> str | RepairPacket:
        """Merge an entry; if that ends with an error again and again, and not because of this machine, return why."""
        why = ""
        for _ in range(_ATTEMPTS):
            try:
                return self._branch.merged(record, head, has_checks=has_checks)
            except Exception as fault:  # noqa: BLE001 - any error about one entry must not stop the others
                self._branch.probe()
                _log.error("merge failed", fault=fault, entry=record.id)
                why = one_line(f"it cannot be merged, since an error ends the attempt: {_words(fault)}")
        return RepairPacket(Fault.MERGE_FAILED, why, head)

    def _judged(
        self, records: Sequence[EntryRecord], whole: CheckReport, alone: Sequence[CheckReport], stop: Stop
    ) -> Turn | None:
        """Land the batch, or look for the culprit; None if an entry has left it meanwhile.

        `alone` may have the report on its first entry. After a failure batches are smaller: so among many culprits,
        too, something lands every few builds.
        """
        if whole.passed:
            approved = self._queue.post(*(_step(each, EntryMove.APPROVE) for each in records))
            if not approved:
                return None
            self._size = min(self._most, 2 * self._size)
            self._passing.add(approved[-1].tip)
            return self._landed(approved)
        self._size = max(1, len(records) // 2)
        if not alone:
            return self._failed(records, whole, stop)
        first, *others = records
        if not alone[0].passed:
            self._requeue(others, "another entry of its batch fails alone")
            return self._failed(records[:1], alone[0], stop)
        landing = replace(_step(first, EntryMove.APPROVE), tip=first.built)
        approved = self._queue.post(landing, *_suspected(others, _failure(whole)), *self._cleared(records))
        if not approved:
            return None
        self._passing.add(first.built)
        return self._landed(approved[:1])

    def _cleared(self, records: Sequence[EntryRecord]) -> list[EntryStep]:
        """Return the steps for the rest of an earlier failed batch: the culprit is in `records`, so not among these."""
        group, own = records[0].suspected_in, {each.id for each in records}
        rest = [each for each in self._queue.entries() if group and each.suspected_in == group and each.id not in own]
        return [_step(each, EntryMove.REQUEUE) for each in rest]

    def _failed(self, records: Sequence[EntryRecord], report: CheckReport, stop: Stop) -> Turn:
        """Halve a batch that fails; refuse a single entry, unless the branch itself fails the same check."""
        first, *others = records
        if report.may_be_machine and report.check in self._checks.everywhere:
            self._require_machine(first.base, report.check, stop)
            # The machine can run it. It may have been mended just now.
            (report,) = self._checks.reports([Build(records[-1].built, (report.check,))], stop)
            if report.passed or report.is_stopped:
                self._requeue(records, "a command was missing on this machine for a while")
                return Turn.WORKED
        cleared = self._cleared(records)
        if others:
            self._queue.post(*_suspected(records, _failure(report)), *cleared)
        elif alone := self._failure_of_branch(first.base, report.check, stop):
            if alone.is_stopped:
                self._requeue(records, "its runner was stopped")
                return Turn.WORKED
            note = f"{first.entry.onto} itself fails the check `{report.check}`; this waits until that is repaired"
            self._queue.post(replace(_step(first, EntryMove.REQUEUE, note), held_at=first.base))
        else:
            beside = _tolerated(tuple[str, ...](), self._branch.beside, first.entry.commit, first.base)
            fault = Fault.CHECK_FAILED if report.check else Fault.MERGE_FAILED
            packet = RepairPacket(
                fault, one_line(_failure(report)), first.base, (), report.check, report.output, beside
            )
            self._queue.post(replace(_step(first, EntryMove.REFUSE, packet.why), packet=packet), *cleared)
        return Turn.WORKED

    def _failure_of_branch(self, head: str, check: str, stop: Stop) -> CheckReport | None:
        """Return how the branch alone fails a check of the project; None if it passes.

        It need not pass the checks of a single entry.
        """
        if not check:
            report = self._require_machine(head, _COPY_ONLY, stop)
            return report if report.is_stopped else None
        if check not in self._checks.everywhere or head in self._passing:
            return None
        if head in self._failing and self._failing[head].check == check:
            return self._failing[head]
        (report,) = self._checks.reports([Build(head, (check,))], stop)
        if report.passed:
            self._passing.add(head)
            return None
        if not report.is_stopped:
            self._failing[head] = report
        return report

    def _require_machine(self, head: str, check: str, stop: Stop) -> CheckReport:
        """Run a check, whose command may be missing, on the branch alone; raise StoreError if that cannot be done."""
        (report,) = self._checks.reports([Build(head, (check,))], stop)
        if report.may_be_machine or not (report.check or report.passed or report.is_stopped):
            raise StoreError(
                Code.IO_FAILED,
                f"{_failure(report)}, for the branch itself, too: {one_line(report.output) or 'without output'}",
                hint="mend this machine, for example by installing the command; the queue then goes on by itself",
            )
        return report

    def _landed(self, records: Sequence[EntryRecord]) -> Turn:
        """Move the branch to a batch that has passed."""
        move = self._branch.move(records[0].base, records[-1].tip)
        self.held = move.why
        if move.moving is Moving.BLOCKED:
            first = min(records, key=lambda each: each.number)  # one of them says it, once
            if first.note != move.why:
                self._queue.post(_step(first, EntryMove.APPROVE, move.why))
            return Turn.HELD
        if move.moving is Moving.REFUSED:
            return self._refused(records, move.why)
        if move.moving is Moving.STALE:
            self._requeue(records, move.why or "the branch was moved while it was tested")
            return Turn.WORKED
        self._record(records)
        return Turn.WORKED

    def _refused(self, records: Sequence[EntryRecord], why: str) -> Turn:
        """Halve a batch that a remote does not take; hold a single entry until the branch has moved."""
        base, cleared = records[0].base, self._cleared(records)
        if len(records) > 1:
            self._size = len(records) // 2
            self._queue.post(*_suspected(records, why), *cleared)
        else:
            self._refused_at.add(base)
            self._queue.post(replace(_step(records[0], EntryMove.REQUEUE, why), held_at=base), *cleared)
        return Turn.WORKED

    def _record(self, records: Sequence[EntryRecord]) -> None:
        # An entry that another one contains came with the merge of that one, which is attributed already.
        bearers = {each.built: each for each in reversed(records)}.values()
        notes = {each.id: _tolerated("its commits have no notes", self._attributed, each) for each in bearers}
        self._queue.post(
            *(replace(_step(each, EntryMove.LAND, notes.get(each.id, "")), built=each.built) for each in records)
        )

    def _attributed(self, record: EntryRecord) -> str:
        self._branch.attribute(record)
        return ""

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


def _suspected(records: Iterable[EntryRecord], why: str) -> list[EntryStep]:
    """Return the steps by which the entries of a failed batch wait, with the culprit among them."""
    return [replace(_step(each, EntryMove.REQUEUE, why), suspected_in=each.batch) for each in records]


def _failure(report: CheckReport) -> str:
    if not report.check:
        return f"its tree cannot be copied ({report.why})"
    return f"the check `{report.check}` failed ({report.why})"


def _words(fault: Exception) -> str:
    return f"{type(fault).__name__}: {fault}" if str(fault) else type(fault).__name__


def _tolerated(instead: _Answer, call: Callable[..., _Answer], *given: object) -> _Answer:
    """Return the answer of a call that nothing depends on; `instead` of it if it fails."""
    try:
        return call(*given)
    except Exception as fault:  # noqa: BLE001 - it must not stop the queue
        _log.error("merge queue goes on without an answer", fault=fault)
        return instead
