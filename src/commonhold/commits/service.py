"""Commits: validate at the write, write all or nothing, and tell a refused author how to succeed next time.

The order of steps is the argument for invariants I3 and I6. A commit takes its turn at each file that it writes, and
plans outside the gate. Inside it, the files that were read are compared with the present ones; leases are checked and
the plan, with the bytes to restore, is recorded in one transaction. When that is durable the files are staged, then
swapped; a second transaction makes the commit final. A crash before that second transaction is undone by the next
process that enters the gate.

If all commits take turns here, the gate is left between the two transactions: several commits are in flight at once,
and share the flushes of the log. The next commit to a file is planned when the files are swapped, and decided when the
earlier commit is final.
"""

import math
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from commonhold.commits.admission import Admitted, CommitAdmission, Refused
from commonhold.commits.key_guard import Guard
from commonhold.commits.plan import CommitRequest, Plan, Rejected
from commonhold.commits.plan_sources import Plans
from commonhold.commits.record import committed, event_of, refuse, shown
from commonhold.commits.recovery import recover, undo
from commonhold.commits.retention import forget
from commonhold.commits.turns import REPOSITORY, Ticket, Turns
from commonhold.kernel.answers import CommitAnswer
from commonhold.kernel.changeset import Changeset
from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.kernel.events import Recorded
from commonhold.kernel.files import ChangedUnderneath
from commonhold.kernel.keys import FILE
from commonhold.kernel.ports import Reader, Step, no_step
from commonhold.leases.idempotency import earlier_answer, remember
from commonhold.reads.read_set_invalidation import places_of
from commonhold.reads.read_sets import ReadSet
from commonhold.workspace.in_flight import Flight
from commonhold.workspace.place import WorktreeState

MAX_TRIES: Final = 4
FORGET_EVERY: Final = 256
_ABSENT: Final = frozenset({Code.FILE_NOT_FOUND, Code.REGION_UNKNOWN, Code.REGION_AMBIGUOUS})


@dataclass(frozen=True, slots=True)
class _Decided:
    """A commit that is recorded in the journal, and not carried out yet."""

    admitted: Admitted
    flight: Flight


@dataclass(frozen=True, slots=True)
class _Behind:
    """The plan is older than commits of others that are done or in flight: it is decided only after them."""

    flights: frozenset[int] = frozenset()


class Commits:
    """The commit service of one working tree."""

    def __init__(
        self,
        place: WorktreeState,
        judging: CommitAdmission,
        plans: Plans,
        turns: Turns,
        guard: Guard,
        read_set: ReadSet,
        retention_seconds: float,
        *,
        at_step: Step = no_step,
    ) -> None:
        """Write to the files of `place`, record in its store, and delete contents there older than `retention_seconds`.

        `plans` computes the writes of a changeset, `judging` decides whether it may write, and `turns` when. Written
        regions are added to the session's `read_set`. `at_step` is called after each step.
        """
        self._place = place
        self._store, self._files, self._clock = place.store, place.files, place.clock
        self._in_flight = place.in_flight
        self._planner = judging.planner
        self._guard = guard
        self._judging = judging
        self._plans = plans
        self._turns = turns
        self._read_set = read_set
        self._retention_seconds = retention_seconds
        self._at_step = at_step

    def commit(
        self,
        holder: str,
        changeset: Changeset,
        worktree: str,
        *,
        is_dry_run: bool = False,
        undoes: tuple[int, ...] = (),
    ) -> CommitAnswer:
        """Apply the changeset, or return why not. Nothing is ever applied in part or without validation.

        The event says that it takes back the commits `undoes`.
        Commits to one file take turns, so none is refused because others are quicker. Raises UsageError and InputError
        for invalid requests, StoreError if files or state cannot be written, `REPOSITORY_BUSY` if programs that take no
        turns keep changing the files; in each case nothing was changed.
        """
        request = CommitRequest(holder, changeset, worktree, is_dry_run, undoes)
        earlier = earlier_answer(self._store, request, CommitAnswer)
        if earlier is not None:
            return earlier
        if request.is_dry_run:
            return self._dry_run(request, self._plan(request))
        with self._turns.take(*map(self._turn_of, self._planner.paths(changeset))) as turn:
            return self._commit(request, turn)

    def _turn_of(self, path: str) -> str:
        return f"{self._files.root}\0{path}"

    def _commit(self, request: CommitRequest, turn: Ticket) -> CommitAnswer:
        """Try until the plan is still valid when it is written. A slow attempt that others overtook is not counted.

        So only programs that take no turns can make it fail.
        """
        planned: Plan | Rejected | None = None
        tries = 0
        while tries < MAX_TRIES:
            self._turns.regain(turn)
            linked = self._turns.linked(self._files.root)
            planned = self._plan(request, planned)
            answer = self._try(request, planned, linked, turn)
            if isinstance(answer, CommitAnswer):
                return answer
            tries += answer is None and self._turns.has_turn(turn)
        raise StoreError(
            Code.REPOSITORY_BUSY,
            "the files were changed again and again by programs that do not ask Commonhold, while this commit was being"
            " checked; nothing was written",
            hint="find the other program that writes there (a formatter, a build, an editor), then repeat the "
            "same call",
            retry_after_seconds=1.0,
        )

    def _try(
        self, request: CommitRequest, planned: Plan | Rejected, linked: int, turn: Ticket
    ) -> CommitAnswer | _Behind | None:
        """Write the plan, or return why not; None if it must be planned again.

        Of two commits that affect each other's files the second must see the first. So a commit that affects other
        files takes a turn of its own within `turn`, from its last look at them to its writing. `linked` is the number
        of such commits before the plan.
        """
        if not self._turns.is_complete:
            return self._enter_beside_processes(request, planned)
        if not _is_linked(planned):
            return self._enter(request, planned, linked, (turn,))
        with self._turns.take(self._turn_of(REPOSITORY), within=turn) as of_all:
            newest = self._turns.linked(self._files.root)
            if newest != linked and not self._plans.still_links(planned.crossed):
                planned = self._plan(request, planned)
            return self._enter(request, planned, newest, (turn, of_all))

    def _plan(self, request: CommitRequest, before: Plan | Rejected | None = None) -> Plan | Rejected:
        """Plan outside the gate. An absent file may be half of a commit in flight: then plan again inside the gate."""
        earlier = before.crossed if isinstance(before, Plan) else None
        try:
            return self._plans.plan(request, earlier)
        except InputError as fault:
            if fault.code not in _ABSENT:
                raise
        with self._place.gate():
            recover(self._place)
            return self._plans.plan(request, earlier)

    def _enter(
        self, request: CommitRequest, planned: Plan | Rejected, linked: int, turns: Sequence[Ticket]
    ) -> CommitAnswer | _Behind | None:
        """Decide inside the gate and carry it out; None or _Behind if the plan is no longer valid there."""
        with self._in_flight.join(), ExitStack() as guards:
            while True:
                with self._guard.room(self._store):
                    decided = self._decide_in_turn(request, planned, linked, turns[0], guards)
                if isinstance(decided, _Decided):
                    with suppress(ChangedUnderneath):
                        return self._carry_out(request, decided, turns)
                    return None
                if not (isinstance(decided, _Behind) and decided.flights):
                    return decided
                self._in_flight.wait_for(decided.flights)
                if isinstance(planned, Rejected) or planned.merged:  # its answer names the commits before it
                    return _Behind()

    def _decide_in_turn(
        self, request: CommitRequest, planned: Plan | Rejected, linked: int, turn: Ticket, guards: ExitStack
    ) -> CommitAnswer | _Decided | _Behind | None:
        """Return the decision on a plan; None if it is no longer valid, or another commit has the turn."""
        recover(self._place)
        earlier = earlier_answer(self._store, request, CommitAnswer)
        if earlier is not None:
            return earlier
        if not self._turns.has_turn(turn):  # a late write would invalidate the plan of the commit whose turn it is
            return None
        with self._store.read() as reader:
            flights = self._ahead(reader, request, planned)
            is_behind = bool(flights) or self._owes_more(reader, planned)
        if is_behind:
            return _Behind(flights)
        self._files.check_idle()
        return self._decide(request, planned, guards) if self._holds(planned, linked) else None

    def _ahead(self, reader: Reader, request: CommitRequest, planned: Plan | Rejected) -> frozenset[int]:
        """Return the commits in flight that must be done before this one is decided.

        They write files that it read, or that its author has read, or both commits affect other files.
        """
        root = self._files.root
        flights = [each for each in self._in_flight.flights() if each.root == root]
        ahead = {
            each.id
            for each in flights
            if any(path in planned.seen for path in each.paths) or (each.is_linked and _is_linked(planned))
        }
        others = [each for each in flights if each.id not in ahead and each.journal.holder != request.holder]
        places = [place for each in others for place in each.places]
        read = {each.key for each in reader.sightings(request.holder, root, places)} if places else set()
        return frozenset(ahead | {each.id for each in others if not read.isdisjoint(each.places)})

    def _owes_more(self, reader: Reader, planned: Plan | Rejected) -> bool:
        """Whether a debt was added here since the plan was made: the plan may settle it, or leave it."""
        root = self._files.root
        newest = planned.newest if isinstance(planned, Plan) else math.inf
        return any(since > newest for debt in reader.debts() if debt.worktree == root for since in debt.since)

    def _enter_beside_processes(self, request: CommitRequest, planned: Plan | Rejected) -> CommitAnswer | None:
        """Decide inside the gate: there are no turns with other processes. So an invalid plan is rebuilt there.

        Return None if that would take long.
        """
        with self._store.gate():
            for _ in range(MAX_TRIES):
                with suppress(ChangedUnderneath), ExitStack() as guards:
                    with self._guard.room(self._store):
                        decided = self._decide_beside_processes(request, planned, guards)
                    if decided is not None:
                        return self._carry_out(request, decided) if isinstance(decided, _Decided) else decided
                if isinstance(planned, Plan) and planned.crossed.has_asked:  # a type checker or tests, which take long
                    return None
                planned = self._plans.plan(request)
        return None

    def _decide_beside_processes(
        self, request: CommitRequest, planned: Plan | Rejected, guards: ExitStack
    ) -> CommitAnswer | _Decided | None:
        """Return the decision on a plan; None if it is no longer valid."""
        recover(self._place)
        earlier = earlier_answer(self._store, request, CommitAnswer)
        if earlier is not None:
            return earlier
        self._files.check_idle()
        with self._store.read() as reader:
            owes_more = self._owes_more(reader, planned)
        return None if owes_more or not self._holds(planned, 0) else self._decide(request, planned, guards)

    def _holds(self, planned: Plan | Rejected, linked: int) -> bool:
        """Whether the plan fits the present state of the files that it read, and of all others if it affects them."""
        if not self._planner.is_current(planned):
            return False
        if not _is_linked(planned):
            return True
        if self._turns.is_complete:
            return self._turns.linked(self._files.root) == linked
        return self._plans.still_links(planned.crossed)

    def _dry_run(self, request: CommitRequest, planned: Plan | Rejected) -> CommitAnswer:
        with self._store.read() as reader:
            verdict = self._judging.verdict(reader, request, planned)
        answer = verdict.answer() if isinstance(verdict, Refused) else committed(verdict, None)
        return replace(answer, is_dry_run=True)

    def _decide(self, request: CommitRequest, planned: Plan | Rejected, guards: ExitStack) -> CommitAnswer | _Decided:
        """Admit the plan and record it in the journal, or refuse it; the files that it read must still be the same.

        From then on until `guards` are closed no other holder gets a lease on the keys that it writes.
        """
        intent = request.changeset.intent
        hold = self._guard.hold(request.holder, intent, self._judging.writes_of(planned))
        conflicts = guards.enter_context(hold)
        with self._store.write() as writer:
            now = self._clock.now()
            verdict = (
                self._judging.lock_conflict(writer, intent, conflicts)
                if conflicts
                else self._judging.verdict(writer, request, planned)
            )
            if isinstance(verdict, Refused):
                return refuse(writer, request, verdict, now)
            plan = verdict.plan
            writer.keep(plan.contents.items(), now.wall)
            journal = writer.begin(self._files.root, request.holder, intent, plan.writes)
        flight = Flight(journal, places_of(plan.changes, plan.contracts), plan.crossed.is_linked)
        self._in_flight.add(flight)
        guards.callback(self._in_flight.end, flight.id)
        return _Decided(verdict, flight)

    def _carry_out(self, request: CommitRequest, decided: _Decided, turns: Sequence[Ticket] = ()) -> CommitAnswer:
        """Write the files, and make the commit final; or take it back. The next commit begins once they are written."""
        journal = decided.flight.journal
        try:
            self._at_step("journalled")
            self._files.stage(journal, decided.admitted.plan.contents.__getitem__)
            self._files.swap(journal)
            self._count(decided.flight)
            self._turns.pass_on(*turns)
            self._files.flush(journal)
            return self._record(request, decided)
        except BaseException:  # after any exception, Ctrl-C too
            with self._store.read() as reader:
                is_pending = any(each.id == decided.flight.id for each in reader.journals())
            if is_pending and not self._files.may_come_back(self._files.root):
                undo(self._store, self._files, self._clock, journal)
            self._count(decided.flight)  # commits that read the files meanwhile have seen content that was taken back
            raise

    def _count(self, flight: Flight) -> None:
        """Tell commits that examine other files that these files have changed."""
        if flight.is_linked:
            self._turns.add_linked(flight.root)

    def _record(self, request: CommitRequest, decided: _Decided) -> CommitAnswer:
        admitted, flight = decided.admitted, decided.flight
        with self._store.write() as writer:
            now = self._clock.now()
            event = event_of(writer, request, admitted)
            recorded = Recorded(writer.next_sequence, now.wall, event)
            answer = committed(admitted, recorded.sequence)
            writer.record([event], now.wall)
            # The author knows its own text, and all that the changeset proves to have read, as it is now.
            keys = [self._planner.locate(read.key) for read in request.changeset.reads]
            found = [self._planner.fresh(key).region for key in keys if key.scheme == FILE]
            relied_on = {str(region.key): region.hash for region in found if region is not None}
            self._read_set.committed(writer, recorded, {**relied_on, **shown(answer)})
            writer.end(flight.id)
            remember(writer, request, answer, now.wall)
            if writer.next_sequence % FORGET_EVERY == 0:
                forget(writer, now, self._retention_seconds)
        self._in_flight.end(flight.id)  # not before: if the record fails, nobody else takes this commit back meanwhile
        self._at_step("recorded")
        return answer


def _is_linked(planned: Plan | Rejected) -> TypeGuard[Plan]:
    """Whether other files may depend on the plan."""
    return isinstance(planned, Plan) and planned.crossed.is_linked
