"""Repair packets: the information that a refused agent needs to succeed next time, and the one call to make."""

from collections.abc import Mapping, Sequence
from typing import Final

from commonhold.code.regions.edit import text_of
from commonhold.code.regions.region import Region
from commonhold.commits.plan import Rejected
from commonhold.commits.rebase import likeliest
from commonhold.kernel.answers import Next, Repair, RepairRegion
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.errors import InputError
from commonhold.kernel.ports import Reader
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.unified_diff import difference
from commonhold.reads.content_history import authors, changed_by, content_like, intents, lines_of
from commonhold.reads.stale_base import Stale

_DELETES: Final = frozenset({Op.DELETE, Op.DELETE_FILE})


def repair_of(reader: Reader, regions: Sequence[Stale], worktree: str) -> Repair:
    """Return the current text of each stale region in `worktree`, its diff from the edit's base, and the authors."""
    return Repair(tuple(_repair_region(reader, stale, worktree) for stale in regions))


def _repair_region(reader: Reader, stale: Stale, worktree: str) -> RepairRegion:
    now = stale.region.hash if stale.region else None
    blamed = authors(reader, stale, worktree) if stale.base or now is None else ()
    base = content_like(reader, stale.base)
    span = _span_meant(stale, base)
    return RepairRegion(
        key=str(stale.region.key if stale.region else stale.key),
        hash=now,
        text=_text(stale, span),
        changed_by=changed_by(blamed),
        intent=intents(blamed),
        diff=_diff(base, stale, span),
        span=span,
    )


def _span_meant(stale: Stale, base: bytes | None) -> int | None:
    """Return the header span to edit: the one that the edit names, or else the span most similar to its base."""
    if stale.region is None or stale.source is None or not stale.region.key.is_header or not stale.base:
        return None
    if stale.span is not None or base is None:
        return stale.span
    return next(iter(likeliest(stale.source, stale.region.spans, base)), 0)


def _text(stale: Stale, span: int | None) -> str | None:
    if stale.region is None or stale.source is None:
        return None
    try:
        return text_of(stale.source, stale.region, _existing(stale.region, span))
    except InputError:
        return None


def _existing(region: Region, span: int | None) -> int | None:
    return span if span is not None and 0 <= span < len(region.spans) else None


def _diff(base: bytes | None, stale: Stale, span: int | None) -> str | None:
    if base is None or stale.source is None or stale.region is None:
        return None
    index = _existing(stale.region, span)
    spans = stale.region.spans if index is None else (stale.region.spans[index],)
    now = b"".join(stale.source.source[start:end] for start, end in spans)
    if b"\0" in base or b"\0" in now:
        return None
    return difference(lines_of(base), lines_of(now), "base", "now")


def next_after(rejected: Rejected, changeset: Changeset, packet: Repair) -> Next:
    """Return the one call that the agent should make after a rejection."""
    if rejected.code is not Refusal.REGION_CHANGED:
        return commit_again(changeset, f"fix the text ({rejected.why}), then commit again")
    lost = next((stale for stale in rejected.stale if stale.region is None or not stale.base), None)
    if lost is not None:
        return Next(
            "regions", {"path": lost.key.file_path}, "list the file's current regions, then plan the edit again"
        )
    fresh = {stale.asked: region for stale, region in zip(rejected.stale, packet.regions, strict=True)}
    doomed = [edit.key for edit in changeset.edits if edit.op in _DELETES and edit.key in fresh]
    if doomed:
        why = "another session changed the text that you wanted to delete: read it, then decide again"
        return Next("show", {"keys": doomed}, why)
    why = "redo your intent on the fresh text in repair (do not resend the old text), then commit with these bases"
    return Next("commit", _arguments(changeset, fresh), why)


def commit_again(changeset: Changeset, why: str) -> Next:
    """Return a call of `commit` with the same edits, for which the agent must write new texts."""
    return Next("commit", _arguments(changeset, {}), why)


def _arguments(changeset: Changeset, fresh: Mapping[str, RepairRegion]) -> dict[str, object]:
    """Return the changeset as arguments, with fresh bases and without texts, which the agent must write again."""
    arguments: dict[str, object] = {
        "intent": changeset.intent,
        "edits": [_edit(edit, fresh.get(edit.key)) for edit in changeset.edits],
    }
    if changeset.leases:
        arguments["leases"] = [{"id": ref.id, "fence": ref.fence} for ref in changeset.leases]
    if not changeset.merge:
        arguments["merge"] = False
    if changeset.reads:
        arguments["reads"] = [
            {"key": read.key, "hash": fresh[read.key].hash if read.key in fresh else read.hash}
            for read in changeset.reads
        ]
    return arguments


def _edit(edit: Edit, fresh: RepairRegion | None) -> dict[str, object]:
    base, span = (fresh.hash, fresh.span) if fresh else (edit.base, edit.span)
    parts: dict[str, object] = {"op": edit.op.value, "key": edit.key, "base": base, "span": span}
    parts |= {"after": edit.after, "to": edit.to, "mode": edit.mode}
    return {name: value for name, value in parts.items() if value is not None}
