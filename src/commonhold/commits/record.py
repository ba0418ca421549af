"""Turn an admitted plan into the event that records it."""

from collections.abc import Mapping
from dataclasses import replace

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.regions.region import hash_bytes
from commonhold.commits.admission import Admitted, Refused
from commonhold.commits.plan import CommitRequest, Plan
from commonhold.kernel.answers import CommitAnswer, Next
from commonhold.kernel.changeset import Edit
from commonhold.kernel.clock import Now
from commonhold.kernel.events import CommitRefused, Committed, FileChange, RegionChange
from commonhold.kernel.obligations import Debt
from commonhold.kernel.ports import Writer
from commonhold.leases.idempotency import remember


def event_of(writer: Writer, request: CommitRequest, admitted: Admitted, *, unadmitted: str = "") -> Committed:
    """Return the event for the plan's effect on the files; `unadmitted` is why it should not have been made."""
    plan = admitted.plan
    debts, settled = _debts(writer, request, admitted)
    return Committed(
        holder=request.holder,
        intent=request.changeset.intent,
        worktree=request.worktree,
        leases=tuple(ref.id for ref in request.changeset.leases),
        files=tuple(
            FileChange(write.path, write.before, write.after, write.mode_before, write.mode_after)
            for write in plan.writes
        ),
        regions=plan.changes,
        debts=debts,
        settled=settled,
        merged=plan.merges,
        contracts=plan.contracts,
        unadmitted=unadmitted,
        undoes=request.undoes,
    )


def _debts(writer: Writer, request: CommitRequest, admitted: Admitted) -> tuple[tuple[Debt, ...], tuple[str, ...]]:
    """Return the debts that are open from now on (or have a new reason), and the keys of settled ones."""
    plan = admitted.plan
    written = {change.key: change for change in plan.changes}
    open_ = {debt.key: debt for debt in writer.debts() if debt.worktree == request.worktree}
    rewritten = plan.rewritten
    left = {debt.key: plan.reweighed.get(debt, debt) for debt in open_.values() if debt.key not in rewritten}
    kept = [debt for debt in open_.values() if debt.key in written and _is_only_moved(debt, plan, written)]
    restated = [debt for debt in left.values() if debt is not None and debt != open_[debt.key]]
    added = [_since(debt, left.get(debt.key), writer.next_sequence) for debt in admitted.debts]
    debts = (*restated, *(replace(debt, key=plan.moved(debt.key)) for debt in (*kept, *added)))
    return debts, tuple(key for key in open_ if left.get(key) is None)


def _since(debt: Debt, left: Debt | None, sequence: int) -> Debt:
    """Return a new debt with all its causes: all must be undone. No causes if those of the earlier debt are unknown."""
    if left is None:
        return replace(debt, since=(sequence,))
    is_typed = Evidence.TYPES in (left.evidence, debt.evidence)
    since = (*left.since, sequence) if left.since else ()
    return replace(debt, since=since, evidence=Evidence.TYPES.value if is_typed else debt.evidence)


def _is_only_moved(debt: Debt, plan: Plan, written: Mapping[str, RegionChange]) -> bool:
    """Whether the region in debt moved unchanged to another file, and so is in debt there."""
    there = written.get(plan.moved(debt.key))
    return there is not None and there.after == written[debt.key].before


def committed(admitted: Admitted, sequence: int | None) -> CommitAnswer:
    """Return the answer to the author of the plan."""
    owed = [debt.key for debt in admitted.debts]
    mend = Next("show", {"keys": owed}, "fix what you owe, and commit it under your lease") if owed else None
    plan = admitted.plan
    return CommitAnswer(
        "merged" if plan.merged else "committed",
        regions=plan.regions,
        notices=admitted.notices,
        next=mend,
        sequence=sequence,
        merged=plan.merged,
    )


def shown(answer: CommitAnswer) -> dict[str, str]:
    """Return the regions whose text the committer knows, since it wrote them."""
    return {region.key: region.hash for region in answer.regions if region.hash is not None}


def refuse(writer: Writer, request: CommitRequest, refused: Refused, now: Now) -> CommitAnswer:
    """Refuse, and keep the refused texts: they are an agent's work."""
    keys = tuple(edit.key for edit in request.changeset.edits)
    texts = {hash_bytes(data): data for edit in request.changeset.edits if (data := _new_content(edit)) is not None}
    writer.keep(texts.items(), now.wall)
    event = CommitRefused(
        request.holder, request.changeset.intent, refused.code, keys, refused.why, contents=tuple(texts)
    )
    writer.record([event], now.wall)
    return remember(writer, request, refused.answer(), now.wall)


def _new_content(edit: Edit) -> bytes | None:
    return edit.data if edit.text is None else edit.text.encode("utf-8", "surrogatepass")
