"""Repair packets: what a refused agent needs to succeed next time, and the one call to make."""

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from commonhold.app.answers import Next, Repair, RepairRegion
from commonhold.app.plan import Rejected, Stale
from commonhold.app.ports import Reader
from commonhold.domain.changeset import Changeset, Edit, Op
from commonhold.domain.errors import InputError
from commonhold.domain.refusal import Refusal
from commonhold.regions.edit import text_of
from commonhold.regions.region import Region

HISTORY_LIMIT: Final = 50
_DELETES: Final = frozenset({Op.DELETE, Op.DELETE_FILE})
MAX_DIFF_LINES: Final = 200
MAX_COMPARED_LINES: Final = 2000
CONTEXT_LINES: Final = 3


def repair_of(reader: Reader, regions: Sequence[Stale], worktree: str) -> Repair:
    """The regions as they are now in `worktree`, with what changed in each since its base, and who changed it."""
    return Repair(tuple(_repair_region(reader, stale, worktree) for stale in regions))


def _repair_region(reader: Reader, stale: Stale, worktree: str) -> RepairRegion:
    now = stale.region.hash if stale.region else None
    authors = _authors(reader, stale, now, worktree) if stale.base or now is None else []
    base = _base_content(reader, stale)
    span = span_meant(stale, base)
    return RepairRegion(
        key=str(stale.region.key if stale.region else stale.key),
        hash=now,
        text=_text(stale, span),
        changed_by=", ".join(dict.fromkeys(holder for holder, _ in authors)) or None,
        intent="; ".join(dict.fromkeys(intent for _, intent in authors if intent)) or None,
        diff=_diff(base, stale, span),
        span=span,
    )


def _base_content(reader: Reader, stale: Stale) -> bytes | None:
    hashes = reader.contents_like(stale.base) if stale.base else ()
    return reader.content(hashes[0]) if len(hashes) == 1 else None


def span_meant(stale: Stale, base: bytes | None) -> int | None:
    """Which span of a header an edit means now: the one it names, else the one most like what it started from."""
    if stale.region is None or stale.source is None or not stale.region.key.is_header or not stale.base:
        return None
    if stale.span is not None or base is None:
        return stale.span
    wanted = Counter(_lines(base))
    pieces = [Counter(_lines(stale.source.source[start:end])) for start, end in stale.region.spans]
    likeness = [2 * (piece & wanted).total() / max(1, piece.total() + wanted.total()) for piece in pieces]
    return likeness.index(max(likeness))


def _authors(reader: Reader, stale: Stale, now: str | None, worktree: str) -> list[tuple[str, str]]:
    """(holder, intent) of the commits that led from the base to what is there now, oldest first.

    Followed backwards by hash, so that a change from outside breaks the chain and is laid on nobody. What another
    worktree has instead breaks nothing.
    """
    authors, wanted = [], now
    key = str(stale.region.key if stale.region else stale.key)
    for _, commit in reader.commits_on(stale.key.file_path, HISTORY_LIMIT):
        change = next((each for each in commit.regions if each.key == key), None)
        if change is None:
            continue
        if change.after != wanted:
            if commit.worktree == worktree:
                break
            continue
        authors.append((commit.holder, commit.intent))
        wanted = change.before
        if wanted is None or (stale.base and wanted.startswith(stale.base)):
            break
    return authors[::-1]


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
    return _shown_diff(_lines(base), _lines(now))


def _shown_diff(old: list[str], new: list[str]) -> str | None:
    """A unified diff of what differs, in bounded time: difflib may take the product of both lengths."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    if max(len(old), len(new)) - head - tail > MAX_COMPARED_LINES:
        return f"… more than {MAX_COMPARED_LINES} lines changed: compare with the kept base"
    start = max(0, head - CONTEXT_LINES)
    cut = max(0, tail - CONTEXT_LINES)
    was, now = old[start : len(old) - cut], new[start : len(new) - cut]
    lines = list(difflib.unified_diff(was, now, "base", "now", n=CONTEXT_LINES, lineterm=""))
    if len(lines) > MAX_DIFF_LINES:
        lines = [*lines[:MAX_DIFF_LINES], f"… {len(lines) - MAX_DIFF_LINES} more lines"]
    return "\n".join(_shifted(line, start) for line in lines) or None


def _common(old: list[str], new: list[str]) -> int:
    """How many first lines are the same."""
    return next(
        (index for index, (mine, other) in enumerate(zip(old, new, strict=False)) if mine != other),
        min(len(old), len(new)),
    )


def _shifted(line: str, start: int) -> str:
    """A hunk's head with line numbers counted from the region's first line."""
    if not line.startswith("@@"):
        return line
    return re.sub(r"([-+])(\d+)", lambda match: f"{match[1]}{int(match[2]) + start}", line)


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").splitlines()


def next_after(rejected: Rejected, changeset: Changeset, packet: Repair) -> Next:
    """The one call to make after a rejection."""
    if rejected.code is not Refusal.REGION_CHANGED:
        return commit_again(changeset, f"mend the text ({rejected.why}), then commit again")
    lost = next((stale for stale in rejected.stale if stale.region is None or not stale.base), None)
    if lost is not None:
        return Next("regions", {"path": lost.key.file_path}, "see what the file holds now, then plan the edit anew")
    fresh = {stale.asked: region for stale, region in zip(rejected.stale, packet.regions, strict=True)}
    doomed = [edit.key for edit in changeset.edits if edit.op in _DELETES and edit.key in fresh]
    if doomed:
        return Next("show", {"keys": doomed}, "somebody changed what you wanted to delete: read it, then decide anew")
    why = "redo your intent on the fresh text in repair (do not resend the old text), then commit with these bases"
    return Next("commit", _arguments(changeset, fresh), why)


def commit_again(changeset: Changeset, why: str) -> Next:
    """The call that sends the same changeset with new texts."""
    return Next("commit", _arguments(changeset, {}), why)


def _arguments(changeset: Changeset, fresh: Mapping[str, RepairRegion]) -> dict[str, object]:
    """The same changeset with fresh bases, without the texts: the agent has to write those anew."""
    arguments: dict[str, object] = {
        "intent": changeset.intent,
        "edits": [_edit(edit, fresh.get(edit.key)) for edit in changeset.edits],
    }
    if changeset.leases:
        arguments["leases"] = [{"id": ref.id, "fence": ref.fence} for ref in changeset.leases]
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
