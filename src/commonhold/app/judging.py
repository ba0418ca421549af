"""The verdict on a planned commit: admitted, or refused with a repair packet."""

from dataclasses import dataclass

from commonhold.app.answers import CommitAnswer, Needed, Next, Repair
from commonhold.app.leases import ask_again
from commonhold.app.plan import Admission, Plan, Rejected, Stale
from commonhold.app.planning import Planner
from commonhold.app.ports import Reader
from commonhold.app.repair import next_after, repair_of
from commonhold.domain.changeset import Changeset, LeaseLost, LockConflict, Refusal, authorise
from commonhold.domain.clock import Now
from commonhold.domain.events import Debt
from commonhold.domain.keys import Key, canonical
from commonhold.domain.lease import Lease
from commonhold.domain.modes import Mode
from commonhold.semantics.admission import Allow, Escalate, RequireLocks, judge


@dataclass(frozen=True, slots=True)
class Admitted:
    """A plan that may be written."""

    plan: Plan
    notices: tuple[str, ...]
    debts: tuple[Debt, ...]


class Judging:
    """Judges plans against the leases that are held, in one view of the state."""

    def __init__(self, planner: Planner, worktree: str) -> None:
        """Look things up for repair packets through `planner`; `worktree` is the root of the files."""
        self._planner = planner
        self._worktree = worktree

    def verdict(
        self, reader: Reader, holder: str, changeset: Changeset, planned: Plan | Rejected, now: Now
    ) -> Admitted | CommitAnswer:
        """Leases first (a late writer is told so before all else), then what planning found, then admission."""
        writes_to = planned.writes_to if isinstance(planned, Plan) else planned.keys
        leases = _leases_in_question(reader, changeset, writes_to, planned)
        lost = authorise(writes_to, changeset.leases, holder, leases, now)
        if isinstance(lost, LeaseLost):
            return self._lease_lost(reader, changeset, lost, writes_to)
        if isinstance(planned, Rejected):
            return self._rejected(reader, changeset, planned)
        if isinstance(lost, LockConflict):
            return self._lock_conflict(reader, changeset, lost)
        held = [
            lease for lease in leases if lease.holder == holder and lease.mode is Mode.EXCLUSIVE and lease.is_live(now)
        ]
        return self._admit(reader, holder, changeset, planned, held)

    def _lease_lost(self, reader: Reader, changeset: Changeset, lost: LeaseLost, keys: tuple[Key, ...]) -> CommitAnswer:
        why = "acquire again, read the regions again, and redo the edit on what is there then"
        return CommitAnswer(
            "refused",
            Refusal.LEASE_LOST,
            f"{lost.why}; what you wrote under it may be stale",
            repair=repair_of(reader, self._fresh(keys), self._worktree),
            next=Next("acquire", {"keys": [str(key) for key in keys], "task": changeset.intent}, why),
        )

    def _rejected(self, reader: Reader, changeset: Changeset, rejected: Rejected) -> CommitAnswer:
        packet = repair_of(reader, rejected.stale or self._fresh(rejected.keys), self._worktree)
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
            repair=repair_of(reader, self._fresh(tuple(map(canonical, keys))), self._worktree),
            next=ask_again(keys, changeset.intent, lost.conflicts),
        )

    def _admit(
        self, reader: Reader, holder: str, changeset: Changeset, plan: Plan, held: list[Lease]
    ) -> Admitted | CommitAnswer:
        required: list[Needed] = []
        reasons: list[Needed] = []
        notices, debts = list(plan.notices), []
        for admission in plan.admissions:
            match _judge(admission, held):
                case Allow() as allowed:
                    notices += allowed.notices
                    debts += [Debt(str(debt.key), holder, debt.why) for debt in allowed.debts]
                case RequireLocks(found):
                    required += [Needed(str(each.key), each.why, f"{admission.path}:{each.line}") for each in found]
                case Escalate(found_reasons):
                    reasons += [
                        Needed(str(each.key), each.why, f"{admission.path}:{each.line}") for each in found_reasons
                    ]
        if reasons or required:
            return self._not_admitted(reader, changeset, reasons, required)
        return Admitted(plan, tuple(notices), tuple(debts))

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
            repair=repair_of(reader, self._fresh(tuple(map(canonical, keys))), self._worktree)
            if required
            else Repair(),
            next=Next("acquire", {"keys": list(keys), "task": changeset.intent}, why),
        )

    def _fresh(self, keys: tuple[Key, ...]) -> tuple[Stale, ...]:
        return tuple(self._planner.fresh(key) for key in keys)


def _leases_in_question(
    reader: Reader, changeset: Changeset, writes_to: tuple[Key, ...], planned: Plan | Rejected
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
    return judge(admission.findings, admission.mended, lambda key: any(lease.covers(key) for lease in held))
