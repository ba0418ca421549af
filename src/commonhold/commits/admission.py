"""The verdict on a planned commit: admitted, or refused with a repair packet."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from posixpath import commonpath, dirname
from typing import Final, TypeVar

from commonhold.code.analysis.admission import Allow, Escalate, Escalation, Required, RequireLocks, judge
from commonhold.commits.key_guard import GUARD
from commonhold.commits.plan import CommitRequest, Plan, Rejected
from commonhold.commits.planning import Planner
from commonhold.commits.reliance import Reliance
from commonhold.commits.repair_packet import commit_again, next_after, repair_of
from commonhold.kernel.answers import CommitAnswer, Next, Repair, RequiredEdit
from commonhold.kernel.changeset import Changeset, LeaseLost, authorise
from commonhold.kernel.clock import Now
from commonhold.kernel.keys import Key, canonical, file_key
from commonhold.kernel.lease import Conflict, Lease, conflicts
from commonhold.kernel.lease_ports import LeaseView
from commonhold.kernel.modes import Mode
from commonhold.kernel.obligations import Debt
from commonhold.kernel.policy import Policies
from commonhold.kernel.ports import Reader
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.texts import short_names
from commonhold.kernel.values import Value
from commonhold.kernel.write_slots import path_of_slot, slot_of
from commonhold.leases.answers import ask_again
from commonhold.leases.values import Values
from commonhold.reads.stale_base import Stale
from commonhold.workspace.place import WorktreeState

K = TypeVar("K", RequiredEdit, Debt)

# The most requirements that are described in words, shown with their text, and leased one by one.
_MOST_TOLD: Final = 5
_MOST_SHOWN: Final = 20
_MOST_LEASED: Final = 50
_ESCALATE: Final = "lease the whole file or class around it, then commit again"
_MEND_BESIDE: Final = (
    "fix the regions in the same changeset, or lease them and fix them next; also lease the files or folders named "
    "beside them, which may be affected too; then commit again"
)
_MEND: Final = "fix these regions in the same changeset, or lease them and fix them next, then commit again"


@dataclass(frozen=True, slots=True)
class Admitted:
    """A plan that may be written."""

    plan: Plan
    notices: tuple[str, ...]
    debts: tuple[Debt, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A plan that must not be written, and the information that its agent needs to succeed next time."""

    code: Refusal
    why: str
    repair: Repair
    next: Next
    required: tuple[RequiredEdit, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    current: tuple[Value, ...] = ()

    def answer(self) -> CommitAnswer:
        """Return the refusal as an answer."""
        return CommitAnswer(
            "refused",
            self.code,
            self.why,
            required=self.required,
            conflicts=self.conflicts,
            repair=self.repair,
            next=self.next,
            current=self.current,
        )


@dataclass(frozen=True, slots=True)
class _Wanting:
    """The requirements of admission: the regions `required`, and the `reasons` to escalate."""

    reasons: tuple[RequiredEdit, ...]
    required: tuple[RequiredEdit, ...]


class CommitAdmission:
    """Judges plans against the leases that are held, in one view of the state."""

    def __init__(
        self, place: WorktreeState, planner: Planner, values: Values, policies: Policies, reliance: Reliance
    ) -> None:
        """Judge by the leases of `place`, and check stale reads with `reliance`; look things up through `planner`."""
        self.planner = planner
        """The maker of the plans."""
        self._reliance = reliance
        self._registry = place.registry
        self._values = values
        self._policies = policies
        self._worktree = place.files.root
        self._name = place.name

    def writes_of(self, planned: Plan | Rejected) -> tuple[Key, ...]:
        """Return the keys that must be free of others' leases: the written regions, and the files' write slots."""
        if isinstance(planned, Rejected):
            return planned.keys
        held_first = set(self._policies.held_first(planned.grown))
        written = (key for key in planned.writes_to if key not in planned.grown or key in held_first)
        return (*written, *(slot_of(self._name, write.path) for write in planned.writes))

    def verdict(self, reader: Reader, request: CommitRequest, planned: Plan | Rejected) -> Admitted | Refused:
        """Judge leases first (a late writer must know at once), then the results of planning, then admission."""
        with self._registry.read() as view:
            return self._verdict(reader, view, request, planned)

    def _verdict(
        self, reader: Reader, view: LeaseView, request: CommitRequest, planned: Plan | Rejected
    ) -> Admitted | Refused:
        now = self._registry.now()
        changeset, intent = request.changeset, request.changeset.intent
        writes_to = self.writes_of(planned)
        leases = _leases_in_question(view, changeset, writes_to, planned)
        lost = authorise(writes_to, changeset.leases, request.holder, leases, now)
        if isinstance(lost, LeaseLost):
            return self._lease_lost(reader, intent, lost, _regions_of(planned))
        if isinstance(planned, Rejected):
            packet = repair_of(reader, planned.stale or self._fresh(planned.keys), self._worktree)
            packet = replace(packet, unmerged=planned.unmerged)
            return Refused(planned.code, planned.why, packet, next_after(planned, changeset, packet))
        in_the_way = lost.conflicts if lost else _held_whole(view, planned.grown, request.holder, now)
        if in_the_way:
            return self.lock_conflict(reader, intent, in_the_way)
        if unfounded := self._unfounded(reader, view, request, planned):
            return unfounded
        held = [lease for lease in leases if _is_held(lease, request.holder, now)]
        return self._judged(reader, view, request, planned, held)

    def _judged(
        self, reader: Reader, view: LeaseView, request: CommitRequest, planned: Plan, held: Sequence[Lease]
    ) -> Admitted | Refused:
        """Judge the leases that the author must hold, by the project's policies and for the effects on other code."""
        changeset, now = request.changeset, self._registry.now()
        if bare := [key for key in self._policies.held_first(planned.writes_to) if not _covered(key, held)]:
            return _lease_required(bare, changeset.intent)
        admitted = _admit(request, planned, held)
        if isinstance(admitted, Admitted):
            return admitted
        others = _holders_of(admitted, view, request.holder, now)
        return self._not_admitted(reader, changeset, planned, admitted, others)

    def across_files(self, reader: Reader, request: CommitRequest, plan: Plan) -> Admitted | Refused:
        """Judge the links to other files alone, for a session that holds no leases and has already written."""
        found = plan.crossed.admission
        examined = replace(plan, admissions=(found,) if found else (), notices=())
        admitted = _admit(request, examined, ())
        if isinstance(admitted, Admitted):
            return admitted
        return self._not_admitted(reader, request.changeset, examined, admitted)

    def _lease_lost(self, reader: Reader, intent: str, lost: LeaseLost, keys: Sequence[Key]) -> Refused:
        why = f"{lost.why}; what you wrote under it may be stale"
        step = "acquire again, read the regions again, and redo the edit on the new text"
        return Refused(Refusal.LEASE_LOST, why, self._repair(reader, keys), Next.acquire(keys, intent, step))

    def held_by_others(self, written: Iterable[Key], holder: str) -> tuple[Conflict, ...]:
        """Return others' leases on keys that `holder` has written; write slots do not count."""
        keys = [key for key in written if path_of_slot(str(key)) is None]
        with self._registry.read() as view:
            return conflicts(keys, Mode.EXCLUSIVE, holder, view.overlapping(keys), self._registry.now())

    def held_whole_by_others(self, grown: Collection[Key], holder: str) -> tuple[Conflict, ...]:
        """Return others' leases on whole files and folders around headers to which `holder` only added lines.

        A lease on a region of such a file, or on the header, does not conflict with that.
        """
        with self._registry.read() as view:
            return _held_whole(view, grown, holder, self._registry.now())

    def lock_conflict(self, reader: Reader, intent: str, conflicts: tuple[Conflict, ...]) -> Refused:
        """Return the refusal for leases of others, with the present text of the regions."""
        keys = tuple(dict.fromkeys(conflict.key for conflict in conflicts))
        if paths := [path for key in keys if (path := path_of_slot(key))]:
            return _being_written(paths, conflicts)
        return Refused(
            Refusal.LOCK_CONFLICT,
            _in_the_way(keys, conflicts),
            self._repair(reader, map(canonical, keys)),
            ask_again(keys, intent, conflicts),
            conflicts=conflicts,
        )

    def _unfounded(self, reader: Reader, view: LeaseView, request: CommitRequest, plan: Plan) -> Refused | None:
        """Return the refusal if values, or code, have changed since the author read them; None otherwise."""
        if changed := self._values.changed(view, request.changeset.reads):
            return _read_changed(changed)
        found = self._reliance.outdated(reader, request, plan)
        if found is None:
            return None
        return Refused(found.code, found.why, repair_of(reader, found.stale, self._worktree), found.next)

    def _not_admitted(
        self,
        reader: Reader,
        changeset: Changeset,
        plan: Plan,
        found: _Wanting,
        others: tuple[Conflict, ...] = (),
    ) -> Refused:
        """Name the regions with broken contracts first; the next call also leases the files that are only suspected.

        While `others` hold leases on some of them, neither a fix nor a lease is possible: the next call waits for them.
        """
        needed = (*found.required, *found.reasons)
        code = Refusal.REQUIRE_ADDITIONAL_LOCKS if found.required else Refusal.ESCALATION_REQUIRED
        repair = self._repair(reader, [canonical(each.key) for each in found.required[:_MOST_SHOWN]])
        keys = _few(dict.fromkeys(each.key for each in needed))
        why = _told(found, {write.path for write in plan.writes})
        if others:
            wait = ask_again(keys, changeset.intent, others)
            return Refused(code, why, repair, wait, required=needed, conflicts=others)
        if found.reasons or set(keys) - {region.key for region in plan.regions}:
            step = _step(found)
            return Refused(code, why, repair, Next.acquire(keys, changeset.intent, step), required=needed)
        # All flaws are in the new texts themselves: a lease would not repair them.
        again = commit_again(
            changeset, "fix your edit: the function it calls has a different signature; then commit again"
        )
        return Refused(code, why, repair, again, required=needed)

    def _repair(self, reader: Reader, keys: Iterable[Key]) -> Repair:
        return repair_of(reader, self._fresh(keys), self._worktree)

    def _fresh(self, keys: Iterable[Key]) -> tuple[Stale, ...]:
        return tuple(self.planner.fresh(key) for key in dict.fromkeys(keys))


def _step(found: _Wanting) -> str:
    if not found.required:
        return _ESCALATE
    return _MEND_BESIDE if found.reasons else _MEND


def _told(found: _Wanting, written: Collection[str]) -> str:
    """Return the first few reasons, with places in files that the change does not write, and the number of the rest."""
    whys = [each.why if _path_of(each) in written else f"{each.why} ({each.where})" for each in found.required]
    whys += [each.why for each in found.reasons]
    more = [f"and {len(whys) - _MOST_TOLD} more"] if len(whys) > _MOST_TOLD else []
    return "; ".join((*whys[:_MOST_TOLD], *more))


def _path_of(needed: RequiredEdit) -> str:
    return needed.where.rpartition(":")[0]


def _few(keys: Iterable[str]) -> tuple[str, ...]:
    """Return the keys, or the innermost folder around all of them if they are too many to list one by one."""
    named = tuple(keys)
    if len(named) <= _MOST_LEASED:
        return named
    return (str(file_key(f"{commonpath([dirname(canonical(key).file_path) for key in named])}/")),)


def _regions_of(planned: Plan | Rejected) -> tuple[Key, ...]:
    return planned.writes_to if isinstance(planned, Plan) else planned.keys


def _being_written(paths: Sequence[str], conflicts: tuple[Conflict, ...]) -> Refused:
    by = short_names(each.holder for each in conflicts)
    why = f"{', '.join(paths)} is being written by {by}"
    step = Next("regions", {"path": paths[0]}, "wait a moment, read the new text, and commit again")
    return Refused(Refusal.LOCK_CONFLICT, why, Repair(), step, conflicts=conflicts)


def _in_the_way(keys: Sequence[str], conflicts: Iterable[Conflict]) -> str:
    what = "stand in line for" if all(each.is_waiting for each in conflicts) else "hold leases on"
    return f"others {what} {', '.join(keys)}"


def _covered(key: Key, held: Iterable[Lease]) -> bool:
    return any(lease.covers(key) for lease in held)


def _read_changed(changed: tuple[Value, ...]) -> Refused:
    keys = [value.key for value in changed]
    why = f"{', '.join(keys)}, which the edits rely on, changed since you read it"
    step = Next(
        "get", {"keys": keys}, "decide again with the current values (in current), then commit with their versions"
    )
    return Refused(Refusal.READ_CHANGED, why, Repair(), step, current=changed)


def _lease_required(bare: Sequence[Key], intent: str) -> Refused:
    needed = tuple(RequiredEdit(str(key), "the project's policy for it is pessimistic", "") for key in bare)
    why = f"{', '.join(map(str, bare))} may be changed under an exclusive lease only"
    step = "hold them first, read them again, then commit with the lease"
    return Refused(Refusal.LEASE_REQUIRED, why, Repair(), Next.acquire(bare, intent, step), required=needed)


def _admit(request: CommitRequest, plan: Plan, held: Sequence[Lease]) -> Admitted | _Wanting:
    reasons: list[RequiredEdit] = []
    required: list[RequiredEdit] = []
    notices = list(plan.notices)
    debts: list[Debt] = []
    mended = frozenset(key for admission in plan.admissions for key in admission.mended)
    for admission in plan.admissions:
        match judge(admission.findings, mended, lambda key: _covered(key, held)):
            case Allow() as allowed:
                notices += allowed.notices
                debts += [_debt(debt, request) for debt in allowed.debts]
            case RequireLocks(found, beside):
                required += _needed(found)
                reasons += _needed(beside)
            case Escalate(found_reasons):
                reasons += _needed(found_reasons)
    if reasons or required:
        return _Wanting(tuple(reasons), _once(required))
    owed = _once(debts)
    notices += [f"owed by you: {debt.key}, since {debt.why}" for debt in owed]
    return Admitted(plan, tuple(dict.fromkeys(notices)), owed)


def _debt(found: Required, request: CommitRequest) -> Debt:
    return Debt(str(found.key), request.holder, found.why, request.worktree, evidence=found.evidence.value)


def _once(found: Sequence[K]) -> tuple[K, ...]:
    """Return the first entry for each key: findings of the file itself come before those of other files."""
    return tuple({each.key: each for each in reversed(found)}.values())[::-1]


def _needed(found: Iterable[Required | Escalation]) -> Iterator[RequiredEdit]:
    for each in found:
        path = each.path if isinstance(each, Escalation) else each.key.file_path
        yield RequiredEdit(str(each.key), each.why, f"{path}:{each.line}", each.evidence)


def _holders_of(found: _Wanting, view: LeaseView, holder: str, now: Now) -> tuple[Conflict, ...]:
    """Return others' leases on the affected code: only their holders can fix or lease it now."""
    needed = [canonical(each.key) for each in (*found.required, *found.reasons)]
    return conflicts(needed, Mode.EXCLUSIVE, holder, view.overlapping(needed), now)


def _held_whole(view: LeaseView, grown: Collection[Key], holder: str, now: Now) -> tuple[Conflict, ...]:
    """Return others' leases on whole files or folders around headers that only get more lines."""
    if not grown:
        return ()
    found = conflicts(grown, Mode.EXCLUSIVE, holder, view.overlapping(tuple(grown)), now)
    return tuple(each for each in found if not canonical(each.held).is_region)


def _is_held(lease: Lease, holder: str, now: Now) -> bool:
    is_wanted = lease.holder == holder and lease.acquisition_id != GUARD
    return is_wanted and lease.mode is Mode.EXCLUSIVE and lease.is_live(now)


def _leases_in_question(
    view: LeaseView, changeset: Changeset, writes_to: tuple[Key, ...], planned: Plan | Rejected
) -> list[Lease]:
    """Return the named leases, the conflicting ones, and the holder's own on keys that admission names."""
    keys = list(writes_to)
    if isinstance(planned, Plan):
        for admission in planned.admissions:
            keys += [each.key for each in admission.findings.required]
            keys += [each.key for each in admission.findings.escalations]
    found = {lease.id: lease for lease in view.overlapping(keys)}
    for ref in changeset.leases:
        lease = view.lease(ref.id)
        if lease is not None:
            found[lease.id] = lease
    return list(found.values())
