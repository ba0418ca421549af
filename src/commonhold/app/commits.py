"""Commits: validate at the write, write all or nothing, refuse with what is needed to succeed next time.

The order of steps is the argument for invariants I3 and I6. Planning is done outside the gate. Inside it: what was
looked at is compared with what is there; leases are checked and the plan, with the bytes to restore, is made durable
in one transaction; the files are staged, then swapped; a second transaction makes the commit a fact. A crash before
that second transaction is undone by whoever enters the gate next.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Final

from commonhold.app.answers import CommitAnswer
from commonhold.app.forgetting import forget
from commonhold.app.guarding import Guard
from commonhold.app.judging import Admitted, Judging, Refused
from commonhold.app.once import earlier_answer, remember
from commonhold.app.owing import Owing
from commonhold.app.place import Place
from commonhold.app.plan import CommitRequest, Plan, Rejected
from commonhold.app.ports import ChangedUnderneath, Journal, Step, no_step
from commonhold.app.read_sets import ReadSet
from commonhold.app.recording import committed, event_of, refuse, shown
from commonhold.app.recovery import recover, undo
from commonhold.domain.changeset import Changeset
from commonhold.domain.errors import Code, InputError, StoreError
from commonhold.domain.events import Recorded
from commonhold.domain.keys import FILE

MAX_REPLANS: Final = 3
FORGET_EVERY: Final = 256
_ABSENT: Final = frozenset({Code.FILE_NOT_FOUND, Code.REGION_UNKNOWN, Code.REGION_AMBIGUOUS})


class Commits:
    """The commit service of one working tree."""

    def __init__(
        self,
        place: Place,
        judging: Judging,
        owing: Owing,
        guard: Guard,
        read_set: ReadSet,
        retention_seconds: float,
        *,
        at_step: Step = no_step,
    ) -> None:
        """Write to the files of `place`, record in its store, forget there what is older than `retention_seconds`.

        `judging` says what may be written, `owing` what is then left of debts. What is written is added to what the
        session has read, `read_set`. `at_step` is called after each step.
        """
        self._store, self._files, self._clock = place.store, place.files, place.clock
        self._planner = judging.planner
        self._guard = guard
        self._judging = judging
        self._owing = owing
        self._read_set = read_set
        self._retention_seconds = retention_seconds
        self._at_step = at_step

    def commit(self, holder: str, changeset: Changeset, worktree: str, *, is_dry_run: bool = False) -> CommitAnswer:
        """Apply the changeset, or say why not. Nothing is ever applied in part or unvalidated.

        Raises UsageError and InputError for requests that make no sense, StoreError where files or state cannot be
        written; in each case nothing was changed.
        """
        request = CommitRequest(holder, changeset, worktree, is_dry_run)
        earlier = earlier_answer(self._store, request, CommitAnswer)
        if earlier is not None:
            return earlier
        planned = self._plan(request.changeset)
        if request.is_dry_run:
            return self._dry_run(request, planned)
        for _ in range(MAX_REPLANS):
            with self._store.gate():
                recover(self._store, self._files, self._clock)
                earlier = earlier_answer(self._store, request, CommitAnswer)
                answer = earlier or self._answered(request, planned)
            if answer is not None:
                return answer
            planned = self._plan(request.changeset)
        raise StoreError(
            Code.REPOSITORY_BUSY,
            "the files were changed from outside again and again while they were being written; nothing was written",
            hint="see what else writes there (a formatter, a build), then repeat the same call",
            retry_after_seconds=5.0,
        )

    def _plan(self, changeset: Changeset) -> Plan | Rejected:
        """Plan outside the gate. What is not there may be half of a commit under way: it is looked for again inside."""
        try:
            return self._planned(changeset)
        except InputError as fault:
            if fault.code not in _ABSENT:
                raise
        with self._store.gate():
            recover(self._store, self._files, self._clock)
            return self._planned(changeset)

    def _planned(self, changeset: Changeset) -> Plan | Rejected:
        planned = self._planner.plan(changeset)
        return planned if isinstance(planned, Rejected) else self._owing.weighed(planned)

    def _answered(self, request: CommitRequest, planned: Plan | Rejected) -> CommitAnswer | None:
        """Answer inside the gate; None where files changed and planning anew would take long, while others wait."""
        for _ in range(MAX_REPLANS):
            self._files.check_idle()
            if self._planner.is_current(planned):
                with suppress(ChangedUnderneath):
                    return self._settle(request, planned)
            if _took_long(planned):
                return None
            planned = self._planned(request.changeset)
        return None

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


def _took_long(planned: Plan | Rejected) -> bool:
    """Whether a type checker was asked, or tests were run."""
    return isinstance(planned, Plan) and planned.crossed.has_asked
