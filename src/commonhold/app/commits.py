"""Commits: validate at the write, write all or nothing, refuse with what is needed to succeed next time.

The order of steps is the argument for invariants I3 and I6. Planning is done outside the gate. Inside it: what was
looked at is compared with what is there; leases are checked and the plan, with the bytes to restore, is made durable
in one transaction; the files are staged, then swapped; a second transaction makes the commit a fact. A crash before
that second transaction is undone by whoever enters the gate next.
"""

from dataclasses import dataclass, replace
from typing import Final

from commonhold.app.answers import CommitAnswer, Needed, Next, Repair
from commonhold.app.leases import ask_again
from commonhold.app.once import first_answer, once
from commonhold.app.plan import Admission, Plan, Rejected, Stale
from commonhold.app.planning import Planner
from commonhold.app.ports import ChangedUnderneath, Clock, Files, Journal, Reader, Step, Store, Writer, no_step
from commonhold.app.reading import Reading
from commonhold.app.recovery import contents_of_store, recover, undo
from commonhold.app.repair import next_after, repair_of
from commonhold.app.sweeping import forget, sweep
from commonhold.domain import texts
from commonhold.domain.changeset import Changeset, LeaseLost, LockConflict, Refusal, authorise
from commonhold.domain.clock import Now
from commonhold.domain.errors import Code, InputError, StoreError
from commonhold.domain.events import Committed, CommitRefused, Debt, FileChange
from commonhold.domain.keys import Key, canonical
from commonhold.domain.lease import Lease
from commonhold.domain.modes import Mode
from commonhold.regions.region import hash_bytes
from commonhold.semantics.admission import Allow, Escalate, RequireLocks, judge

MAX_REPLANS: Final = 3
FORGET_EVERY: Final = 256
_ABSENT: Final = frozenset({Code.FILE_NOT_FOUND, Code.REGION_UNKNOWN, Code.REGION_AMBIGUOUS})


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """A wish of `holder` that the changeset take effect; a dry run only asks for the verdict."""

    holder: str
    changeset: Changeset
    is_dry_run: bool = False

    @property
    def request_id(self) -> str | None:
        """The id to repeat the request by; a dry run is asked anew each time."""
        return None if self.is_dry_run else self.changeset.request_id


@dataclass(frozen=True, slots=True)
class _Admitted:
    """The verdict that lets a plan be written."""

    notices: tuple[str, ...]
    debts: tuple[Debt, ...]


class Commits:
    """The commit service of one working tree."""

    def __init__(
        self,
        store: Store,
        files: Files,
        reading: Reading,
        clock: Clock,
        *,
        retention_seconds: float,
        at_step: Step = no_step,
    ) -> None:
        """Write to `files`, record in `store`, forget there what is older; `at_step` is called after each step."""
        self._store = store
        self._files = files
        self._clock = clock
        self._reading = reading
        self._planner = Planner(files, reading, store)
        self._retention_seconds = retention_seconds
        self._at_step = at_step

    def commit(self, request: CommitRequest) -> CommitAnswer:
        """Apply the changeset, or say why not. Nothing is ever applied in part or unvalidated.

        Raises UsageError and InputError for requests that make no sense, StoreError where files or state cannot be
        written; in each case nothing was changed.
        """
        texts.holder(request.holder)
        earlier = self._earlier(request)
        if earlier is not None:
            return earlier
        planned = self._plan(request.changeset)
        if request.is_dry_run:
            return self._dry_run(request, planned)
        with self._store.gate():
            recover(self._store, self._files, self._clock)
            earlier = self._earlier(request)
            if earlier is not None:
                return earlier
            for _ in range(MAX_REPLANS):
                self._files.check_idle()
                if not self._is_current(planned):
                    planned = self._planner.plan(request.changeset)
                try:
                    return self._settle(request, planned)
                except ChangedUnderneath:
                    planned = self._planner.plan(request.changeset)
        raise StoreError(
            Code.REPOSITORY_BUSY,
            "the files were changed from outside again and again while they were being written; nothing was written",
            hint="see what else writes there (a formatter, a build), then repeat the same call",
            retry_after_seconds=5.0,
        )

    def _plan(self, changeset: Changeset) -> Plan | Rejected:
        """Plan outside the gate. What is not there may be half of a commit under way, so it is looked for again inside."""
        try:
            return self._planner.plan(changeset)
        except InputError as fault:
            if fault.code not in _ABSENT:
                raise
        with self._store.gate():
            recover(self._store, self._files, self._clock)
            return self._planner.plan(changeset)

    def _earlier(self, request: CommitRequest) -> CommitAnswer | None:
        if request.request_id is None:
            return None
        with self._store.read() as reader:
            return first_answer(reader, request, CommitAnswer)

    def _is_current(self, planned: Plan | Rejected) -> bool:
        return all(self._hash_now(path) == seen for path, seen in planned.seen.items())

    def _hash_now(self, path: str) -> str | None:
        state = self._files.load(path)
        return None if state is None else hash_bytes(state.content)

    def _dry_run(self, request: CommitRequest, planned: Plan | Rejected) -> CommitAnswer:
        with self._store.read() as reader:
            verdict = self._verdict(reader, request, planned, self._clock.now())
        if isinstance(verdict, CommitAnswer):
            return replace(verdict, is_dry_run=True)
        assert isinstance(planned, Plan)
        return replace(_committed(planned, verdict, None), is_dry_run=True)

    def _settle(self, request: CommitRequest, planned: Plan | Rejected) -> CommitAnswer:
        """Answer inside the gate, with everything looked at still there."""
        with self._store.write() as writer:
            now = self._clock.now()
            sweep(writer, now)
            verdict = self._verdict(writer, request, planned, now)
            if isinstance(verdict, CommitAnswer):
                return self._refuse(writer, request, verdict, now)
            assert isinstance(planned, Plan)
            writer.keep(planned.contents.items(), now.wall)
            journal = writer.begin(self._files.root, request.holder, request.changeset.intent, planned.writes)
        self._at_step("journalled")
        self._write_files(journal)
        return self._record(request, planned, verdict, journal)

    def _write_files(self, journal: Journal) -> None:
        try:
            self._files.stage(journal, contents_of_store(self._store))
            self._files.swap(journal)
        except BaseException:  # whatever stopped it, Ctrl-C too
            undo(self._store, self._files, self._clock, journal)
            raise

    def _record(self, request: CommitRequest, plan: Plan, verdict: _Admitted, journal: Journal) -> CommitAnswer:
        with self._store.write() as writer:
            now = self._clock.now()
            event = self._event(writer, request, plan, verdict)
            answer = _committed(plan, verdict, writer.next_sequence)
            writer.record([event], now.wall)
            writer.end(journal.id)
            once(writer, request, now.wall, lambda: answer, CommitAnswer)
            if writer.next_sequence % FORGET_EVERY == 0:
                forget(writer, now, self._retention_seconds)
        self._at_step("recorded")
        return answer

    def _event(self, reader: Reader, request: CommitRequest, plan: Plan, verdict: _Admitted) -> Committed:
        written = {change.key for change in plan.changes}
        return Committed(
            holder=request.holder,
            intent=request.changeset.intent,
            worktree=self._files.root,
            leases=tuple(ref.id for ref in request.changeset.leases),
            files=tuple(
                FileChange(write.path, write.before, write.after, write.mode_before, write.mode_after)
                for write in plan.writes
            ),
            regions=plan.changes,
            debts=verdict.debts,
            settled=tuple(debt.key for debt in reader.debts() if debt.key in written),
        )

    def _refuse(self, writer: Writer, request: CommitRequest, answer: CommitAnswer, now: Now) -> CommitAnswer:
        def refuse() -> CommitAnswer:
            keys = tuple(edit.key for edit in request.changeset.edits)
            refused = CommitRefused(request.holder, request.changeset.intent, answer.code or "", keys, answer.why)
            writer.record([refused], now.wall)
            return answer

        return once(writer, request, now.wall, refuse, CommitAnswer)

    def _verdict(
        self, reader: Reader, request: CommitRequest, planned: Plan | Rejected, now: Now
    ) -> _Admitted | CommitAnswer:
        changeset = request.changeset
        writes_to = planned.writes_to if isinstance(planned, Plan) else planned.keys
        leases = _leases_in_question(reader, changeset, writes_to, planned, request.holder)
        lost = authorise(writes_to, changeset.leases, request.holder, leases, now)
        if isinstance(lost, LeaseLost):
            return self._lease_lost(reader, changeset, lost, writes_to)
        if isinstance(planned, Rejected):
            return self._rejected(reader, changeset, planned)
        if isinstance(lost, LockConflict):
            return self._lock_conflict(reader, changeset, lost)
        held = [
            lease
            for lease in leases
            if lease.holder == request.holder and lease.mode is Mode.EXCLUSIVE and lease.is_live(now)
        ]
        return self._admit(reader, request, planned, held)

    def _lease_lost(self, reader: Reader, changeset: Changeset, lost: LeaseLost, keys: tuple[Key, ...]) -> CommitAnswer:
        why = "acquire again, read the regions again, and redo the edit on what is there then"
        return CommitAnswer(
            "refused",
            Refusal.LEASE_LOST,
            f"{lost.why}; what you wrote under it may be stale",
            repair=repair_of(reader, self._fresh(keys), self._files.root),
            next=Next("acquire", {"keys": [str(key) for key in keys], "task": changeset.intent}, why),
        )

    def _rejected(self, reader: Reader, changeset: Changeset, rejected: Rejected) -> CommitAnswer:
        packet = repair_of(reader, rejected.stale or self._fresh(rejected.keys), self._files.root)
        return CommitAnswer(
            "refused", rejected.code, rejected.why, repair=packet, next=next_after(rejected, changeset, packet)
        )

    def _lock_conflict(self, reader: Reader, changeset: Changeset, lost: LockConflict) -> CommitAnswer:
        keys = tuple(dict.fromkeys(conflict.key for conflict in lost.conflicts))
        return CommitAnswer(
            "refused",
            Refusal.LOCK_CONFLICT,
            f"others hold leases on {', '.join(keys)}",
            conflicts=lost.conflicts,
            repair=repair_of(reader, self._fresh(tuple(map(canonical, keys))), self._files.root),
            next=ask_again(keys, changeset.intent, lost.conflicts),
        )

    def _admit(
        self, reader: Reader, request: CommitRequest, plan: Plan, held: list[Lease]
    ) -> _Admitted | CommitAnswer:
        required: list[Needed] = []
        reasons: list[Needed] = []
        notices, debts = list(plan.notices), []
        for admission in plan.admissions:
            match _judge(admission, held):
                case Allow() as allowed:
                    notices += allowed.notices
                    debts += [Debt(str(debt.key), request.holder, debt.why) for debt in allowed.debts]
                case RequireLocks(found):
                    required += [Needed(str(each.key), each.why, f"{admission.path}:{each.line}") for each in found]
                case Escalate(found_reasons):
                    reasons += [
                        Needed(str(each.key), each.why, f"{admission.path}:{each.line}") for each in found_reasons
                    ]
        if reasons or required:
            return self._not_admitted(reader, request.changeset, reasons, required)
        return _Admitted(tuple(notices), tuple(debts))

    def _not_admitted(
        self, reader: Reader, changeset: Changeset, reasons: list[Needed], required: list[Needed]
    ) -> CommitAnswer:
        needed = tuple(reasons or required)
        keys = tuple(dict.fromkeys(each.key for each in needed))
        if reasons:
            code, why = Refusal.ESCALATION_REQUIRED, "lease the whole file, then commit again naming that lease"
        else:
            code = Refusal.REQUIRE_ADDITIONAL_LOCKS
            why = "mend these regions in the same changeset, or lease them and mend them next, then commit again"
        return CommitAnswer(
            "refused",
            code,
            "; ".join(each.why for each in needed),
            required=needed,
            repair=repair_of(reader, self._fresh(tuple(map(canonical, keys))), self._files.root) if required else Repair(),
            next=Next("acquire", {"keys": list(keys), "task": changeset.intent}, why),
        )

    def _fresh(self, keys: tuple[Key, ...]) -> tuple[Stale, ...]:
        return tuple(self._planner.fresh(key) for key in keys)


def _leases_in_question(
    reader: Reader, changeset: Changeset, writes_to: tuple[Key, ...], planned: Plan | Rejected, holder: str
) -> list[Lease]:
    """The leases named, those in the way, and the holder's own on what admission names."""
    keys = list(writes_to)
    if isinstance(planned, Plan):
        keys += [each.key for admission in planned.admissions for each in admission.findings.required]
    found = {lease.id: lease for lease in reader.overlapping(keys)}
    for ref in changeset.leases:
        lease = reader.lease(ref.id)
        if lease is not None:
            found[lease.id] = lease
    return list(found.values())


def _judge(admission: Admission, held: list[Lease]) -> Allow | RequireLocks | Escalate:
    return judge(
        admission.findings, admission.mended, lambda key: any(lease.covers(key) for lease in held)
    )


def _committed(plan: Plan, verdict: _Admitted, sequence: int | None) -> CommitAnswer:
    return CommitAnswer("committed", regions=plan.regions, notices=verdict.notices, sequence=sequence)
