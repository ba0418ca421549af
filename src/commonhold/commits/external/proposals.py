"""Proposals: the intended writes of a session's own tool, judged before the tool runs and recorded afterwards.

Before: the text that the tool will write is judged as a commit would be, the regions that it changes are leased to the
session, and the old content is kept. The file's write slot (a lease that the caller holds) keeps other writers away.
After: the files are compared with their earlier content, and the actual change is recorded, even if it differs from the
proposal.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from commonhold.code.regions.region import hash_bytes
from commonhold.commits.admission import Admitted, CommitAdmission, Refused
from commonhold.commits.external.external_writes import OUTSIDE, ExternalWrites, Made, Seen
from commonhold.commits.plan import CommitRequest, Plan, Rejected
from commonhold.commits.planning import Planner
from commonhold.commits.read_before_write import Acquaintance, known_by
from commonhold.commits.record import committed, refuse
from commonhold.kernel.answers import AcquireAnswer, CommitAnswer, RecordAnswer
from commonhold.kernel.changeset import Changeset
from commonhold.kernel.keys import Key, canonical, file_key
from commonhold.kernel.lease import Conflict, Lease
from commonhold.kernel.options import Options, Release
from commonhold.kernel.ports import Reader, Writer
from commonhold.kernel.presence import Presence, Proposal
from commonhold.kernel.purposes import HELD_FOR_EDIT, HELD_FOR_TURN, MOST_SHOWN, OURS
from commonhold.kernel.read_set import Sighting
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.texts import short_names
from commonhold.leases.service import Leases
from commonhold.reads.read_sets import ReadSet
from commonhold.workspace.place import WorktreeState

_MOST_KEYS: Final = 50
_BY_GRAVITY: Final = ("nothing", "recorded", "unadmitted")
_TO_BE_LEASED: Final = frozenset({Refusal.REQUIRE_ADDITIONAL_LOCKS, Refusal.ESCALATION_REQUIRED})


@dataclass(frozen=True, slots=True)
class Wanted:
    """The intended writes of a tool's call. `blind` are files that it overwrites without naming the old content."""

    holder: str
    changeset: Changeset
    call: str
    blind: tuple[str, ...] = ()


class Proposals:
    """Judges proposals of one working tree, and records their results."""

    def __init__(
        self,
        place: WorktreeState,
        planner: Planner,
        admission: CommitAdmission,
        leases: Leases,
        external_writes: ExternalWrites,
        read_set: ReadSet,
        options: Options,
    ) -> None:
        """Plan with `planner`, judge with `admission`, lease with `leases`, record with `external_writes`."""
        self._place = place
        self._planner = planner
        self._admission = admission
        self._leases = leases
        self._external_writes = external_writes
        self._read_set = read_set
        self._options = options

    def propose(self, holder: str, changeset: Changeset, call: str, blind: Iterable[str]) -> CommitAnswer:
        """Admit the intended writes of the tool, or refuse them with a repair packet; nothing is written here.

        The changeset names the lease of the write slot: a session that has lost it is refused. Further regions that
        admission requires are leased to the session if they are free, and become its debts.
        """
        wanted = Wanted(holder, changeset, call, tuple(blind))
        request = CommitRequest(holder, changeset, self._place.files.root)
        # Earlier proposals of the session for the same files are over, though no report said so.
        paths = {self._planner.locate(edit.key).file_path for edit in changeset.edits}
        self._settled(holder, [each for each in self._of(holder) if each.path in paths])
        since = self._read_set.newest()
        planned = self._planner.plan(changeset)
        unknown = self._strangers(wanted, planned) if isinstance(planned, Plan) else None
        granted: list[Lease] = []
        with self._place.together():
            # Holders come before unknown content: reading it would be in vain as long as it is held.
            denied = self._leased(request, planned, granted)
            with self._place.store.write() as writer:
                before = self._slots_of(writer, holder)
                verdict = denied or self._verdict(writer, request, unknown or planned, granted)
                if isinstance(verdict, Admitted):
                    self._keep(writer, wanted, verdict.plan)
                    answer = replace(committed(verdict, None), is_dry_run=True)
                    over = before and before - self._slots_of(writer, holder)
                else:
                    answer = refuse(writer, request, verdict, self._place.clock.now())
                    self._shown(writer, answer, since)
                    over = {lease.id for lease in granted}
            self._release(holder, over)
        return answer

    def _slots_of(self, reader: Reader, holder: str) -> set[str]:
        """Return the write slots of a session's proposals: a call that is made twice keeps only the second slot."""
        return {each.slot for each in reader.proposals(self._place.files.root) if each.holder == holder}

    def _strangers(self, wanted: Wanted, plan: Plan) -> Rejected | None:
        """Return a rejection if the session would overwrite content that it does not know."""
        acquaintance = Acquaintance(wanted.holder, self._place.files.root, self._planner.fresh)
        with self._place.store.read() as reader:
            found = acquaintance.strangers(reader, plan.writes_to, wanted.blind)
        return replace(found, seen=plan.seen) if found else None

    def _leased(self, request: CommitRequest, planned: Plan | Rejected, granted: list[Lease]) -> Refused | None:
        """Lease the keys that the plan writes, adding to `granted`; return a refusal if others hold some of them."""
        if isinstance(planned, Rejected):
            return None
        held_first = set(self._options.policies.held_first(planned.writes_to))
        keys = [key for key in planned.writes_to if key not in planned.grown or key in held_first]
        headers = [key for key in keys if key.is_header or self._options.release is Release.EDIT]
        for purpose, part in ((HELD_FOR_TURN, _few(set(keys) - set(headers))), (HELD_FOR_EDIT, _few(headers))):
            answer = self._lease(request, part, purpose, granted)
            if answer is not None:
                with self._place.store.read() as reader:
                    return self._admission.lock_conflict(reader, request.changeset.intent, answer.conflicts)
        return None

    def _lease(
        self, request: CommitRequest, keys: Iterable[Key], purpose: str, granted: list[Lease]
    ) -> AcquireAnswer | None:
        """Lease those of `keys` that the session does not hold yet; return the answer if it is a denial."""
        held = [lease for lease in self._leases.live(holder=request.holder) if lease.acquisition_id in OURS]
        wanted = [str(key) for key in keys if not any(lease.covers(key) for lease in held)]
        if not wanted:
            return None
        answer = self._leases.acquire(
            request.holder,
            tuple(wanted),
            task=request.changeset.intent,
            ttl_seconds=self._options.idle_seconds,
            acquisition_id=purpose,
        )
        if answer.lease is None:
            return answer
        granted.append(answer.lease)
        return None

    def _verdict(
        self, writer: Writer, request: CommitRequest, planned: Plan | Rejected, granted: list[Lease]
    ) -> Admitted | Refused:
        verdict = self._admission.verdict(writer, request, planned)
        if not isinstance(verdict, Refused) or verdict.code not in _TO_BE_LEASED or verdict.next.call != "acquire":
            return verdict
        keys = [canonical(str(key)) for key in verdict.next.arguments["keys"]]  # type: ignore[attr-defined]
        if denied := self._lease(request, keys, HELD_FOR_TURN, granted):
            return replace(verdict, conflicts=denied.conflicts, why=f"{verdict.why}; {_held(denied.conflicts)}")
        return self._admission.verdict(writer, request, planned)

    def _shown(self, writer: Writer, answer: CommitAnswer, since: int) -> None:
        """Record that the agent has read the regions that a refusal shows whole."""
        hashes = {each.key: each.hash for each in answer.repair.regions if each.hash is not None and each.span is None}
        whole = known_by({each.key: each.text for each in answer.repair.regions}, MOST_SHOWN)
        shown = {key: hashes[key] for key in whole if key in hashes}
        wall = self._place.clock.now().wall
        texts = (each.text.encode() for each in answer.repair.regions if each.key in shown and each.text is not None)
        writer.keep(((hash_bytes(text), text) for text in texts), wall)
        self._read_set.read(writer, shown, since, wall)

    def _keep(self, writer: Writer, wanted: Wanted, plan: Plan) -> None:
        wall = self._place.clock.now().wall
        writer.keep(plan.contents.items(), wall)
        slot = next((ref.id for ref in wanted.changeset.leases), "")
        # The proposals of a session are kept for as long as it is present.
        root = self._place.files.root
        known = next((each for each in writer.presences(root) if each.holder == wanted.holder), None)
        known = known or Presence(wanted.holder, root, "", "", wall, wall)
        writer.attend(replace(known, seen_at=wall, is_at_rest=False))
        writer.propose(
            Proposal(
                wanted.holder,
                root,
                wanted.call,
                write.path,
                write.before,
                write.after,
                wanted.changeset.intent,
                slot,
                writer.next_sequence - 1,
            )
            for write in plan.writes
        )

    def finish(self, holder: str, call: str, paths: Collection[str] = ()) -> RecordAnswer | None:
        """Record the results of a call's proposals (of those for `paths`, if calls have no names).

        Return None if it has none: there never were any, or they are settled already.
        """
        named = {self._place.files.path_of(path) for path in paths}
        meant = [each for each in self._of(holder) if (each.call == call if call else each.path in named)]
        if not meant:
            return None
        answer = self._settled(holder, meant)
        gone = tuple(filter(None, map(self._external_writes.overwritten, meant)))
        return replace(answer, notices=answer.notices + gone)

    def end_turn(self, holder: str) -> RecordAnswer:
        """End the session's turn: record the results of all its proposals, and release the leases taken for them."""
        answer = self.finish_all(holder)
        self._release(holder, [each.id for each in self._leases.live(holder=holder) if each.acquisition_id in OURS])
        return answer

    def finish_all(self, holder: str) -> RecordAnswer:
        """Record the results of all the session's proposals."""
        return self._settled(holder, self._of(holder))

    def give_up(self, holder: str) -> None:
        """Record the results of all proposals of a session that has ended.

        The old content of the files stays known: if the tool writes them after all, the log has the earlier state.
        """
        before = [(str(file_key(each.path)), each.before, each.since) for each in self._of(holder)]
        known = [Sighting(key, was, since) for key, was, since in before if was is not None]
        with self._place.store.write() as writer:
            writer.see(OUTSIDE, self._place.files.root, known, self._place.clock.now().wall)
        self.finish_all(holder)

    def overdue(self) -> tuple[Proposal, ...]:
        """Return proposals of any session whose write slot has ended without a report that they were carried out."""
        waiting = self._waiting()  # before the leases: a later proposal's slot is not among those
        if not waiting:
            return ()
        live = {lease.id for lease in self._leases.live()}
        return tuple(each for each in waiting if each.slot not in live)

    def finish_overdue(self) -> list[Proposal]:
        """Record unreported writes of tools whose slots have ended.

        Return the proposals that are still overdue: the tool may first be asking a person for permission.
        """
        left = []
        for each in self.overdue():
            if self._external_writes.is_as_foretold(each):
                self._recorded([each], [self._external_writes.look(self._external_writes.late(each))])
            else:
                left.append(each)
        return left

    def withdraw(self, proposals: Iterable[Proposal]) -> None:
        """Delete proposals whose results are recorded."""
        with self._place.store.write() as writer:
            writer.withdraw(proposals)

    def _waiting(self) -> Sequence[Proposal]:
        with self._place.store.read() as reader:
            return reader.proposals(self._place.files.root)

    def _of(self, holder: str) -> list[Proposal]:
        return [each for each in self._waiting() if each.holder == holder]

    def _settled(self, holder: str, proposals: Sequence[Proposal]) -> RecordAnswer:
        if not proposals:
            return RecordAnswer("nothing")
        if not all(map(self._external_writes.is_as_foretold, proposals)):
            self.finish_overdue()  # so that another session's late write is not credited to this one
        live = {lease.id for lease in self._leases.live(holder=holder)}
        late = [each for each in proposals if each.slot not in live]
        overtaken = [each for each in proposals if each.slot in live and self._external_writes.is_overtaken(each)]
        in_time = {each.path: each.before for each in proposals if each not in late and each not in overtaken}
        made = [Made(holder, in_time, proposals[0].intent)]
        made += [*map(self._external_writes.overtaken, overtaken), *map(self._external_writes.late, late)]
        seen = [self._external_writes.look(each) for each in made]
        with self._place.together():
            answer = self._recorded(proposals, seen)
            if answer is not None:
                self._release(holder, {each.slot for each in proposals} & live)
                left = self._leases.live(holder=holder)
                self._release(holder, (each.id for each in left if each.acquisition_id == HELD_FOR_EDIT))
                return answer
        return self._settled(holder, [each for each in self._of(holder) if each in proposals])

    def _recorded(self, proposals: Sequence[Proposal], seen: Iterable[Seen]) -> RecordAnswer | None:
        """Record the results of proposals, and delete these; return None if some are deleted already.

        Two callers may settle the same one: a hook runs twice, or another session finds a late write.
        """
        with self._place.gate():
            waiting = self._waiting()
            if not all(each in waiting for each in proposals):
                return None
            answer = max(map(self._external_writes.record, seen), key=lambda each: _BY_GRAVITY.index(each.outcome))
            self.withdraw(proposals)
            return answer

    def _release(self, holder: str, lease_ids: Iterable[str]) -> None:
        for lease_id in lease_ids:
            self._leases.release(holder, lease_id)


def _few(keys: Collection[Key]) -> list[Key]:
    """Return the keys, or the files that contain them if they are too many to list one by one."""
    return sorted(keys if len(keys) <= _MOST_KEYS else {key.file for key in keys})


def _held(conflicts: Iterable[Conflict]) -> str:
    return f"code that it affects is held by {short_names(each.holder for each in conflicts)}"
