"""The work on one item, step by step, until it is accepted, given back or lost.

Each step reads the state of the item from the blackboard, takes the action for that state, and posts the result. So an
item that another process has left continues from there. A candidate is posted before it is committed, and its commit
has the candidate's name as request id: a process that commits it again gets the first answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from commonhold.api.wire import shapes
from commonhold.api.wire.changesets import parse_changeset
from commonhold.coordinator.request_shapes import one_line
from commonhold.coordinator.roles import ItemRequest, RecoveryByRules, RoleFailed, Roles, Stop
from commonhold.kernel.changeset import LeaseRef
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.events import Committed
from commonhold.kernel.keys import FILE, canonical
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.run import (
    CandidateOutcome,
    EditCandidate,
    ItemRecord,
    ItemState,
    ItemStep,
    Locking,
    LockPlan,
    Role,
    Run,
)
from commonhold.runs.answers import ItemView, RunAnswer
from commonhold.runs.commands import Post

if TYPE_CHECKING:
    from commonhold.client.session import Commonhold
    from commonhold.coordinator.keeper import Keeper
    from commonhold.kernel.answers import CommitAnswer, RegionText
    from commonhold.kernel.changeset import Changeset

LOOK_SECONDS: Final = 0.25
PLACE_SECONDS: Final = 15.0
"""How long a place in line outlives an editor that has died."""
LOCK_PATIENCE_SECONDS: Final = 600.0
"""How long an editor waits for the leases of its lock plan."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The dependencies of the work on items: the roles, the keeper of leases, the sign to stop, and a way to post.

    `post` records a step and returns the answer; after a refusal the work on the item ends.
    """

    run: Run
    roles: Roles
    keeper: Keeper
    stop: Stop
    post: Callable[[Post], RunAnswer]
    lease_ttl: float


class ItemWork:
    """The work on one item, by its session."""

    def __init__(self, around: Surroundings, session: Commonhold) -> None:
        """Work as `session`, which holds the claim."""
        self._around = around
        self._session = session

    def carry_on(self, view: ItemView | None) -> None:
        """Do the steps of an item until none is left, or until the sign to stop.

        A candidate that was posted is committed even then: it takes a moment, and its outcome is known. Raises
        InputError `ROLE_FAILED` if the validator gives no verdict, and the errors of the store.
        """
        steps: dict[ItemState, Callable[[ItemView], ItemView | None]] = {
            ItemState.EDITING: self._edit,
            ItemState.PROPOSED: self._commit,
            ItemState.REFUSED: self._replan,
            ItemState.WRITTEN: self._validate,
        }
        while view is not None and view.item.is_in_progress:
            if self._around.stop.is_set() and view.item.state is not ItemState.PROPOSED:
                return
            view = steps[view.item.state](view)

    def _post(self, view: ItemView, step: ItemStep, role: Role, **parts: Any) -> ItemView | None:  # noqa: ANN401
        answer = self._around.post(Post(view.item.task_id, step, view.item.last, role, **parts))
        return answer.item

    def _request(self, view: ItemView, **parts: Any) -> ItemRequest:  # noqa: ANN401
        return ItemRequest(self._around.run, view.task.task, view.item, self._session.root, **parts)

    def _edit(self, view: ItemView) -> ItemView | None:
        """Lease the keys of the lock plan, read the regions as they are now, and ask the editor for a candidate."""
        # Those of an earlier candidate go first, so that the next are acquired together.
        for each in self._leases_beside_claim(view):
            self._around.keeper.drop(each.id)
            self._session.release(each.id)
        request = self._request(view)
        if not self._around.roles.editor_writes:
            locks = view.item.locks or LockPlan()
            leases = self._lease(view.item, locks)
            if isinstance(leases, CandidateOutcome):
                return self._post(view, ItemStep.REFUSE, Role.EDITOR, outcome=leases)
            if self._around.stop.is_set():
                return None
            regions, absent = self._read(locks)
            request = replace(request, regions=regions, absent=absent, leases=leases)
        answer = self._around.roles.editor.edit(request, self._around.stop)
        if isinstance(answer, RoleFailed):
            return self._post_failure(view, answer)
        parts: dict[str, Any] = {"usage": answer.usage, "messages": answer.messages, "note": one_line(answer.note)}
        if answer.changeset is None:
            outcome = CandidateOutcome(admitted=answer.admitted)
            return self._post(view, ItemStep.WRITE, Role.EDITOR, outcome=outcome, **parts)
        text = _text_of(self._named(answer.changeset, view.item, request.leases))
        return self._post(view, ItemStep.PROPOSE, Role.EDITOR, candidate=EditCandidate(view.item.round, text), **parts)

    def _post_failure(self, view: ItemView, failed: RoleFailed) -> ItemView | None:
        """Post that the editor has failed. One that was stopped has not, but commits that it has made are kept."""
        step = ItemStep.GIVE_BACK if self._around.stop.is_set() else ItemStep.FAIL
        if step is ItemStep.GIVE_BACK and not failed.admitted:
            return None
        outcome = CandidateOutcome(admitted=failed.admitted) if failed.admitted else None
        return self._post(view, step, Role.EDITOR, note=one_line(failed.why), usage=failed.usage, outcome=outcome)

    def _named(self, changeset: Changeset, item: ItemRecord, leases: tuple[LeaseRef, ...]) -> Changeset:
        """Return a changeset under its leases, with its intent, and with the name by which it is committed once."""
        name = f"{item.run_id}.{item.task_id}.{item.round}"
        return replace(
            changeset,
            request_id=name,
            leases=leases,
            intent=changeset.intent or one_line(f"{item.task_id}: {item.intent}"),
        )

    def _lease(self, item: ItemRecord, locks: LockPlan) -> tuple[LeaseRef, ...] | CandidateOutcome:
        """Acquire the keys of a lock plan together, in line behind others; none for an optimistic plan.

        The outcome is a refusal if they are not free in time. If the sign to stop comes first, there is no lease.
        """
        if locks.locking is Locking.OPTIMISTIC or not locks.keys:
            return ()
        ticket, until = f"{item.session}.{item.last}", time.monotonic() + LOCK_PATIENCE_SECONDS
        while not self._around.stop.is_set():
            answer = self._session.acquire(
                *locks.keys,
                task=one_line(f"{item.task_id}: {item.intent}"),
                ttl_seconds=self._around.lease_ttl,
                ticket=ticket,
                patience_seconds=PLACE_SECONDS,
            )
            if answer.lease is not None:
                self._around.keeper.keep(self._session, answer.lease.id, self._around.lease_ttl)
                return (LeaseRef(answer.lease.id, answer.lease.fence),)
            if answer.outcome == "denied" or time.monotonic() >= until:
                self._session.release(ticket)
                holders = ", ".join(sorted({each.holder for each in answer.conflicts}))
                why = f"the keys of its lock plan were not released by {holders or 'others'}"
                return CandidateOutcome(answer.code or Refusal.LOCK_CONFLICT, one_line(why), locks.keys)
            self._around.stop.wait(LOOK_SECONDS)
        self._session.release(ticket)
        return ()

    def _read(self, locks: LockPlan) -> tuple[tuple[RegionText, ...], tuple[str, ...]]:
        found: list[RegionText] = []
        absent: list[str] = []
        for key in locks.keys:
            if canonical(key).scheme != FILE:
                continue
            try:
                found += self._session.read(key)
            except InputError:  # it does not exist yet: the editor may create it
                absent.append(key)
        return tuple(found), tuple(absent)

    def _commit(self, view: ItemView) -> ItemView | None:
        """Commit the candidate that was posted; again, if a process has died meanwhile: the answer is the same."""
        candidate = view.item.candidate or EditCandidate(0, "")
        try:
            answer = self._session.commit(parse_changeset(candidate.changeset))
        except (InputError, UsageError) as fault:
            outcome = CandidateOutcome(fault.code.value, one_line(f"{fault.message}; {fault.hint}"))
        else:
            outcome = _outcome(answer)
        self._around.keeper.drop(*(each.id for each in self._leases_beside_claim(view)))
        step = ItemStep.REFUSE if outcome.code else ItemStep.WRITE
        return self._post(view, step, Role.EDITOR, outcome=outcome)

    def _replan(self, view: ItemView) -> ItemView | None:
        request = self._request(view)
        answer = self._around.roles.recovery.replan(request, self._around.stop)
        if self._around.stop.is_set():
            return None
        if isinstance(answer, RoleFailed):
            failed = answer
            answer = RecoveryByRules().replan(request, self._around.stop)
            answer = replace(answer, note=f"{failed.why}; so by the rules: {answer.note}", usage=failed.usage)
        parts = {"usage": answer.usage, "messages": answer.messages, "note": one_line(answer.note)}
        if answer.locks is None:
            why = (view.item.outcome or CandidateOutcome()).why
            parts["note"] = one_line(f"{answer.note}; the last: {why}")
            return self._post(view, ItemStep.FAIL, Role.RECOVERY, **parts)
        return self._post(view, ItemStep.REPLAN, Role.RECOVERY, locks=answer.locks, **parts)

    def _validate(self, view: ItemView) -> ItemView | None:
        if rejected := self._reject_debts(view):
            return rejected
        answer = self._around.roles.validator.validate(self._request(view), self._around.stop)
        if self._around.stop.is_set():
            return None
        if isinstance(answer, RoleFailed):
            raise InputError(
                Code.ROLE_FAILED,
                f"the validator gave no verdict on {view.item.task_id}: {answer.why}",
                hint=f"mend it, then: commonhold run --resume {self._around.run.id}",
                fields={"task": view.item.task_id},
            )
        parts = {"usage": answer.usage, "messages": answer.messages}
        if answer.passed:
            has_checks = view.task.task.checks or self._around.run.checks
            note = view.item.note or ("its checks passed" if has_checks else "it has no checks")
            return self._post(view, ItemStep.ACCEPT, Role.VALIDATOR, note=note, **parts)
        return self._post(view, ItemStep.REJECT, Role.VALIDATOR, note=one_line(answer.why), locks=answer.locks, **parts)

    def _reject_debts(self, view: ItemView) -> ItemView | None:
        """Reject an item whose session has broken regions and not repaired them."""
        authors = {view.item.session, *self._authors(view.item.admitted)}
        debts = [each for each in self._session.status().debts if each.holder in authors]
        if not debts:
            return None
        why = "; ".join(f"{each.key} must be repaired: {each.why}" for each in debts)
        before = view.item.locks or LockPlan()
        keys = tuple(dict.fromkeys((*before.keys, *(each.key for each in debts))))
        locking = Locking.LEASED if before.locking is Locking.OPTIMISTIC else before.locking
        locks = LockPlan(locking, keys, "the change has broken these regions")
        return self._post(view, ItemStep.REJECT, Role.VALIDATOR, note=one_line(why), locks=locks)

    def _authors(self, admitted: tuple[int, ...]) -> set[str]:
        """Return the sessions that have made these commits, if the editor writes by itself."""
        if not self._around.roles.editor_writes:
            return set()
        found = [self._session.log(after=each - 1, limit=1) for each in admitted]
        return {each.event.holder for events in found for each in events if isinstance(each.event, Committed)}

    def _leases_beside_claim(self, view: ItemView) -> list[LeaseRef]:
        held = self._session.leases(holder=view.item.session)
        return [LeaseRef(each.id, each.fence) for each in held if each.id != view.task.lease_id]


def _outcome(answer: CommitAnswer) -> CandidateOutcome:
    if answer.code is None:
        return CandidateOutcome(admitted=() if answer.sequence is None else (answer.sequence,))
    keys = (
        [each.key for each in answer.required]
        or [each.key for each in answer.repair.regions]
        or [each.held for each in answer.conflicts]
    )
    return CandidateOutcome(
        answer.code,
        one_line(answer.why),
        tuple(dict.fromkeys(keys)),
        repair=json.dumps(shapes.commit(answer), ensure_ascii=False),
    )


def _text_of(changeset: Changeset) -> str:
    """Return a changeset as JSON text, as `parse_changeset` reads it."""
    import msgspec  # noqa: PLC0415 - loaded here: only candidates need it

    return msgspec.json.encode(changeset).decode()
