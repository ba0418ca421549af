"""From a plan that may be written to the fact that it was."""

from collections.abc import Mapping
from dataclasses import replace

from commonhold.app.answers import CommitAnswer, Next
from commonhold.app.judging import Admitted, Refused
from commonhold.app.once import remember
from commonhold.app.plan import CommitRequest, Plan
from commonhold.app.ports import Reader, Writer
from commonhold.domain.changeset import Edit
from commonhold.domain.clock import Now
from commonhold.domain.debt import Debt
from commonhold.domain.events import CommitRefused, Committed, FileChange, RegionChange
from commonhold.regions.region import hash_bytes


def event_of(reader: Reader, request: CommitRequest, admitted: Admitted, *, unadmitted: str = "") -> Committed:
    """The event that says what the plan made of the files; `unadmitted` why it should not have been made."""
    plan = admitted.plan
    written = {change.key: change for change in plan.changes}
    settled = [debt for debt in reader.debts() if debt.worktree == request.worktree and debt.key in written]
    kept = [debt for debt in settled if _is_only_moved(debt, plan, written)]
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
        debts=tuple(replace(debt, key=plan.moved(debt.key)) for debt in (*kept, *admitted.debts)),
        settled=tuple(debt.key for debt in settled),
        merged=plan.merges,
        contracts=plan.contracts,
        unadmitted=unadmitted,
    )


def _is_only_moved(debt: Debt, plan: Plan, written: Mapping[str, RegionChange]) -> bool:
    """Whether what is owed went to another file as it was, and so is owed there."""
    there = written.get(plan.moved(debt.key))
    return there is not None and there.after == written[debt.key].before


def committed(admitted: Admitted, sequence: int | None) -> CommitAnswer:
    """The answer to who made the plan."""
    owed = [debt.key for debt in admitted.debts]
    mend = Next("show", {"keys": owed}, "mend what you owe, and commit it under your lease") if owed else None
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
    """The regions that the committer knows the text of, since it wrote them."""
    return {region.key: region.hash for region in answer.regions if region.hash is not None}


def refuse(writer: Writer, request: CommitRequest, refused: Refused, now: Now) -> CommitAnswer:
    """Say no, and keep what was refused: it is somebody's work."""
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
