"""Commits: validate at the write, write all or nothing, refuse with what is needed to succeed next time.

The order of steps is the argument for invariants I3 and I6. Whoever commits takes its turn at each file that it
writes, and plans outside the gate. Inside it: what was looked at is compared with what is there; leases are checked and
the plan, with the bytes to restore, is made durable in one transaction; the files are staged, then swapped; a second
transaction makes the commit a fact. A crash before that second transaction is undone by whoever enters the gate next.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Final, TypeGuard

from commonhold.app.answers import CommitAnswer
from commonhold.app.forgetting import forget
from commonhold.app.guarding import Guard
from commonhold.app.judging import Admitted, Judging, Refused
from commonhold.app.once import earlier_answer, remember
from commonhold.app.place import Place
from commonhold.app.plan import CommitRequest, Plan, Rejected
from commonhold.app.plans import Plans
from commonhold.app.ports import ChangedUnderneath, Journal, Step, no_step
from commonhold.app.read_sets import ReadSet
from commonhold.app.recording import committed, event_of, refuse, shown
from commonhold.app.recovery import recover, undo
from commonhold.app.turns import REPOSITORY, Ticket, Turns
from commonhold.domain.changeset import Changeset
from commonhold.domain.errors import Code, InputError, StoreError
from commonhold.domain.events import Recorded
from commonhold.domain.keys import FILE

MAX_TRIES: Final = 4
FORGET_EVERY: Final = 256
_ABSENT: Final = frozenset({Code.FILE_NOT_FOUND, Code.REGION_UNKNOWN, Code.REGION_AMBIGUOUS})


class Commits:
    """The commit service of one working tree."""

    def __init__(
        self,
        place: Place,
        judging: Judging,
        plans: Plans,
        turns: Turns,
        guard: Guard,
        read_set: ReadSet,
        retention_seconds: float,
        *,
        at_step: Step = no_step,
    ) -> None:
        """Write to the files of `place`, record in its store, forget there what is older than `retention_seconds`.

        `plans` says what a changeset would write, `judging` whether it may, and `turns` when. What is written is added
        to what the session has read, `read_set`. `at_step` is called after each step.
        """
        self._store, self._files, self._clock = place.store, place.files, place.clock
        self._planner = judging.planner
        self._guard = guard
        self._judging = judging
        self._plans = plans
        self._turns = turns
        self._read_set = read_set
        self._retention_seconds = retention_seconds
        self._at_step = at_step

    def commit(self, holder: str, changeset: Changeset, worktree: str, *, is_dry_run: bool = False) -> CommitAnswer:
        """Apply the changeset, or say why not. Nothing is ever applied in part or unvalidated.

        Commits to one file take turns, so none is refused because others are quicker. Raises UsageError and InputError
        for requests that make no sense, StoreError where files or state cannot be written, `REPOSITORY_BUSY` where
        programs that take no turns keep changing the files; in each case nothing was changed.
        """
        request = CommitRequest(holder, changeset, worktree, is_dry_run)
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
        """Try until the plan holds when it is to be written. That others came in between since it took long is no try.

        So only those who take no turns can make it fail.
        """
        planned: Plan | Rejected | None = None
        tries = 0
        while tries < MAX_TRIES:
            self._turns.regain(turn)
            linked = self._turns.linked(self._files.root)
            planned = self._plan(request, planned)
            answer = self._try(request, planned, linked, turn)
            if answer is not None:
                return answer
            tries += self._turns.has_turn(turn)
        raise StoreError(
            Code.REPOSITORY_BUSY,
            "the files were changed again and again by programs that do not ask Commonhold, while this commit was being"
            " checked; nothing was written",
            hint="see what else writes there (a formatter, a build, an editor), then repeat the same call",
            retry_after_seconds=1.0,
        )

    def _try(self, request: CommitRequest, planned: Plan | Rejected, linked: int, turn: Ticket) -> CommitAnswer | None:
        """Write what was planned, or say why not; None if it has to be planned anew.

        Of two commits that concern each other's files the second must see the first. So what concerns other files takes
        a turn of its own within `turn`, from the last look at them to its writing. `linked` is how many had done so
        before the plan.
        """
        if not (_is_linked(planned) and self._turns.is_complete):
            return self._enter(request, planned, linked, turn)
        with self._turns.take(self._turn_of(REPOSITORY), within=turn):
            newest = self._turns.linked(self._files.root)
            if newest != linked and not self._plans.still_links(planned.crossed):
                planned = self._plan(request, planned)
            return self._enter(request, planned, newest, turn)

    def _plan(self, request: CommitRequest, before: Plan | Rejected | None = None) -> Plan | Rejected:
        """Plan outside the gate. What is not there may be half of a commit under way: it is looked for again inside."""
        earlier = before.crossed if isinstance(before, Plan) else None
        try:
            return self._plans.plan(request, earlier)
        except InputError as fault:
            if fault.code not in _ABSENT:
                raise
        with self._store.gate():
            recover(self._store, self._files, self._clock)
            return self._plans.plan(request, earlier)

    def _enter(
        self, request: CommitRequest, planned: Plan | Rejected, linked: int, turn: Ticket
    ) -> CommitAnswer | None:
        """Answer inside the gate; None where the plan does not hold there any more, or another has the turn.

        Who commits beside other processes, with whom it takes no turns, plans anew inside, unless that takes long.
        """
        with self._store.gate():
            recover(self._store, self._files, self._clock)
            earlier = earlier_answer(self._store, request, CommitAnswer)
            if earlier is not None:
                return earlier
            if not self._turns.has_turn(turn):  # a late write would spoil the plan of whose turn it is
                return None
            for _ in range(MAX_TRIES):
                self._files.check_idle()
                if self._holds(planned, linked):
                    with suppress(ChangedUnderneath):
                        return self._settle(request, planned)
                if self._turns.is_complete or _took_long(planned):
                    return None
                planned = self._plans.plan(request)
        return None

    def _holds(self, planned: Plan | Rejected, linked: int) -> bool:
        """Whether the plan is of what is there: of the files it looked at, and of all others if it concerns them."""
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

    def _settle(self, request: CommitRequest, planned: Plan | Rejected) -> CommitAnswer:
        """Answer inside the gate, with everything looked at still there."""
        intent = request.changeset.intent
        with self._guard.hold(request.holder, intent, self._judging.writes_of(planned)) as conflicts:
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
            self._at_step("journalled")
            return self._carry_out(request, verdict, journal)

    def _carry_out(self, request: CommitRequest, admitted: Admitted, journal: Journal) -> CommitAnswer:
        try:
            self._files.stage(journal, admitted.plan.contents.__getitem__)
            self._files.swap(journal)
            return self._record(request, admitted, journal)
        except BaseException:  # whatever stopped it, Ctrl-C too
            if self._is_pending(journal):
                undo(self._store, self._files, self._clock, journal)
            raise
        finally:  # undone as well: who looked at other files meanwhile has seen what was not to stay
            if admitted.plan.crossed.is_linked:
                self._turns.add_linked(self._files.root)

    def _is_pending(self, journal: Journal) -> bool:
        with self._store.read() as reader:
            return any(each.id == journal.id for each in reader.journals())

    def _record(self, request: CommitRequest, admitted: Admitted, journal: Journal) -> CommitAnswer:
        with self._store.write() as writer:
            now = self._clock.now()
            event = event_of(writer, request, admitted)
            recorded = Recorded(writer.next_sequence, now.wall, event)
            answer = committed(admitted, recorded.sequence)
            writer.record([event], now.wall)
            self._read_set.committed(writer, recorded, {**self._relied_on(request), **shown(answer)})
            writer.end(journal.id)
            remember(writer, request, answer, now.wall)
            if writer.next_sequence % FORGET_EVERY == 0:
                forget(writer, now, self._retention_seconds)
        self._at_step("recorded")
        return answer

    def _relied_on(self, request: CommitRequest) -> dict[str, str]:
        """The files and regions that the changeset proves to have read, as they are."""
        keys = [self._planner.locate(read.key) for read in request.changeset.reads]
        found = [self._planner.fresh(key).region for key in keys if key.scheme == FILE]
        return {str(region.key): region.hash for region in found if region is not None}


def _is_linked(planned: Plan | Rejected) -> TypeGuard[Plan]:
    """Whether other files can have to do with it."""
    return isinstance(planned, Plan) and planned.crossed.is_linked


def _took_long(planned: Plan | Rejected) -> bool:
    """Whether a type checker was asked, or tests were run."""
    return isinstance(planned, Plan) and planned.crossed.has_asked
