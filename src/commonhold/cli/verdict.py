"""The answer to commit in words: the written regions, or the reason for the refusal and the next step."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from commonhold.cli.common_options import Given
from commonhold.cli.describe import ABOVE, conflict, note_quotes, notices, quoted, short, there_now
from commonhold.cli.next_call import next_lines
from commonhold.cli.opening import Place, rooted
from commonhold.cli.output import shown, shown_text
from commonhold.kernel.answers import CommitAnswer, MergedRegion, Next, RepairRegion, Unmerged
from commonhold.kernel.changeset import Changeset, Edit
from commonhold.kernel.keys import canonical
from commonhold.kernel.refusals import Refusal

# The answer speaks of its own fields; here they are printed above.
_FRESH: Final = ("the fresh text in repair", "the text above")
_BASES: Final = ("with these bases", "with this base")
_MEND: Final = "fix these regions in the same changeset"
_LEASE: Final = "or lease them, commit your change again, and fix them next"


def committed(answer: CommitAnswer, changeset: Changeset, place: Place, given: Given) -> Iterator[str]:
    """The answer to `changeset`, which was to be written at `place`."""
    trial = " (dry run: nothing is written)" if answer.is_dry_run else ""
    if answer.outcome == "refused":
        why = "the change reaches beyond itself" if _reaches_out(answer) else shown(answer.why)
        yield f"refused [{answer.code}]: {why}{trial}"
        yield from _refusal(answer)
        yield from note_quotes(answer.context)
    else:
        event = f": event {answer.sequence}" if answer.sequence is not None else ""
        yield f"{answer.outcome}{event}{trial}"
        yield from (f"  {shown(region.key)}  {_state(region.hash)}" for region in answer.regions)
        yield from (line for region in answer.merged for line in _merged(region))
    yield from notices(answer.notices)
    yield from _hints(answer, changeset)
    yield from _next(answer, changeset, place, given)


def _merged(region: MergedRegion) -> Iterator[str]:
    """The present text, if it differs from the sent one."""
    if region.diff is None:
        return
    yield f"--- {shown(region.key)}  {_state(region.hash)}"
    yield "the current text, compared with yours:"
    yield shown_text(region.diff)
    yield "---"


def _refusal(answer: CommitAnswer) -> Iterator[str]:
    yield from map(conflict, answer.conflicts)
    for needed in answer.required:
        place = f" at {shown(needed.where)}" if needed.where else ""
        yield f"  {shown(needed.key)}{place}: {shown(needed.why)}"
    if _reaches_out(answer):
        yield "  (lines are counted in the file as your change would make it)"
    unmerged = {each.key: each for each in answer.repair.unmerged}
    for region in answer.repair.regions:
        yield from _repair(region, unmerged.pop(region.key, None))
    for each in unmerged.values():
        yield from (f"--- {shown(each.key)}", *_unmerged(each), "---")
    yield from there_now(answer.current)


def _reaches_out(answer: CommitAnswer) -> bool:
    return bool(answer.required) and answer.code is not Refusal.LEASE_REQUIRED


def _repair(region: RepairRegion, unmerged: Unmerged | None) -> Iterator[str]:
    yield f"--- {shown(region.key)}  {_state(region.hash)}{_author(region)}"
    if region.diff:
        yield "what changed since your base:"
        yield shown_text(region.diff)
    if region.text is not None:
        yield "the current text:"
        yield shown_text(region.text).removesuffix("\n")
    if unmerged is not None:
        yield from _unmerged(unmerged)
    yield "---"


def _unmerged(found: Unmerged) -> Iterator[str]:
    yield from (f"not merged [{each.reason}]: {shown(each.why)}" for each in found.obstacles)
    if found.marked is not None:
        yield "both changes, as far as they go together:"
        yield shown_text(found.marked).removesuffix("\n")


def _state(content_hash: str | None) -> str:
    return f"hash {short(content_hash)}" if content_hash else "does not exist"


def _author(region: RepairRegion) -> str:
    if region.changed_by is None:
        return ""
    return f"  changed by {shown(region.changed_by)}{quoted(region.intent or '')}"


def _hints(answer: CommitAnswer, changeset: Changeset) -> Iterator[str]:
    if answer.code not in (Refusal.PARSE_INVALID, Refusal.OUT_OF_SCOPE_EDIT):
        return
    there = {canonical(region.key).qualname: region.text for region in answer.repair.regions}
    for edit in changeset.edits:
        before = there.get(edit.key.partition("#")[2])
        if before and edit.text and "#" in edit.key and _indent(before) != _indent(edit.text):
            yield f"hint: indent the text of {shown(edit.key)} as `show` printed it: {_words(_indent(before))}"


def _indent(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "")
    return line[: len(line) - len(line.lstrip())]


def _words(indent: str) -> str:
    if not indent:
        return "its first line is not indented"
    kind = "tab" if indent[0] == "\t" else "space"
    return f"its first line begins with {len(indent)} {kind}{'s' if len(indent) > 1 else ''}"


def _next(answer: CommitAnswer, changeset: Changeset, place: Place, given: Given) -> Iterator[str]:
    if answer.next is None:
        return
    if answer.code is Refusal.REQUIRE_ADDITIONAL_LOCKS and not answer.conflicts:
        yield from next_lines(_mended(answer, changeset), given)
        yield from next_lines(replace(answer.next, why=_LEASE), given, "or")
        return
    yield from next_lines(_at_hand(answer, answer.next, place), given)


def _at_hand(answer: CommitAnswer, call: Next, place: Place) -> Next:
    """Return the call in the words of this output, and one that leads on if there is nothing to look at."""
    if call.call == "regions":
        path = str(call.arguments["path"])
        if not Path(place.hold.root, path).exists():
            why = "the file does not exist: see who removed it; `commit --create` creates it again"
            return Next("who", {"key": rooted(path)}, why)
        return replace(call, why=f"{call.why} (`commit --insert` makes a new region)")
    why = call.why.replace(f" ({answer.why})", "").replace(*_FRESH).replace(*ABOVE)
    edits = call.arguments.get("edits")
    if isinstance(edits, list) and len(edits) == 1 and "reads" not in call.arguments:
        why = why.replace(*_BASES)
    return replace(call, why=why)


def _mended(answer: CommitAnswer, changeset: Changeset) -> Next:
    """The same changeset, with an edit more for each region that has to be mended."""
    hashes = {region.key: region.hash for region in answer.repair.regions}
    keys = dict.fromkeys(needed.key for needed in answer.required)
    edits = [_without_text(edit) for edit in changeset.edits]
    edits += [{"op": "replace", "key": key, "base": hashes[key]} for key in keys if hashes.get(key)]
    arguments: dict[str, object] = {"intent": changeset.intent, "edits": edits}
    if changeset.leases:
        arguments["leases"] = [{"id": ref.id, "fence": ref.fence} for ref in changeset.leases]
    if not changeset.merge:
        arguments["merge"] = False
    if changeset.reads:
        arguments["reads"] = [{"key": read.key, "hash": read.hash} for read in changeset.reads]
    return Next("commit", arguments, _MEND)


def _without_text(edit: Edit) -> dict[str, object]:
    parts = {name: getattr(edit, name) for name in ("key", "base", "after", "to", "mode", "span")}
    return {"op": edit.op.value, **{name: value for name, value in parts.items() if value is not None}}
