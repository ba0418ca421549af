"""Apply edits to one version of a file, and find flaws in the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.code.analysis.glimpse import seen_from_outside
from commonhold.code.regions.discover import discover
from commonhold.code.regions.edit import Delete, Insert, Placed, Replace, splice
from commonhold.code.regions.find import find
from commonhold.code.regions.incremental_parse import Change
from commonhold.code.regions.languages import PYTHON
from commonhold.code.regions.piecewise import still_compiles
from commonhold.code.regions.region import Problem, Region, RegionMap, hash_bytes
from commonhold.code.regions.scope import breach
from commonhold.code.regions.syntax import problem_in
from commonhold.commits.resolved_edits import KeyedEdit, changeset_invalid
from commonhold.kernel.changeset import Op
from commonhold.kernel.keys import Key
from commonhold.kernel.refusals import Refusal
from commonhold.reads.recent_maps import RECENT_MAPS, Recent, rediscovered

# Contents that are known to compile as Python.
_COMPILED: Final = Recent[bytes, bool](RECENT_MAPS)


@dataclass(frozen=True, slots=True)
class Content:
    """A version of a file, and the places of the edits in it; `source` is None for a deleted file."""

    source: bytes | None
    map: RegionMap
    placed: tuple[Placed, ...] = ()


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why the result of edits on a file must not be written."""

    code: Refusal
    why: str
    keys: tuple[Key, ...]


def applied(before: RegionMap, edits: Sequence[KeyedEdit]) -> Content:
    """Return the result of the edits on a file. Raises InputError for edits that do not fit it."""
    if any(edit.edit.op is Op.DELETE_FILE for edit in edits):
        return Content(None, discover(b"", before.path))
    data = next((edit.edit.data for edit in edits if edit.edit.data is not None), None)
    if data is not None:
        return Content(data, rediscovered(before, data))
    splices = [splice_of(before, edit) for edit in edits if edit.edit.op not in (Op.CHMOD, Op.RENAME_FILE)]
    if not splices:
        return Content(before.source, before)
    spliced = splice(before, splices)
    return Content(spliced.source, rediscovered(before, spliced.source), spliced.placed)


def splice_of(before: RegionMap, keyed: KeyedEdit) -> Replace | Insert | Delete:
    """Return one edit of a file's content as a splice on its present regions."""
    edit, key = keyed.edit, keyed.key
    if edit.op is Op.INSERT:
        after = find(before, keyed.after.names) if keyed.after else None
        container = find(before, key.names[:-1])
        return Insert(key, after, container, edit.text or "")
    region = find(before, key.names)
    if edit.op is Op.DELETE:
        return Delete(region)
    return Replace(region, edit.text or "", span_of(before, region, keyed))


def span_of(before: RegionMap, region: Region, keyed: KeyedEdit) -> int | None:
    """Return the span of a header that an edit means; None if it names none. Its base must be present."""
    edit = keyed.edit
    if not region.key.is_header:
        return None
    if edit.base is None or region.hash.startswith(edit.base):
        return edit.span
    spans = spans_meant(spans_with(edit.base, before, region), edit.span)
    if len(spans) > 1:
        raise changeset_invalid(
            f"{len(spans)} spans of {keyed.key} have the hash {edit.base}",
            f"say which one with span: {', '.join(map(str, spans))}",
        )
    return spans[0]


def spans_meant(spans: Sequence[int], span: int | None) -> Sequence[int]:
    """Return those of the spans with the base's hash that the edit can mean: the one it names, or the only one.

    Inserts of others shift the numbers: a hash that occurs only once is more certain than a number. If it occurs more
    than once, the number must be that of one of them.
    """
    if span is None or len(spans) == 1:
        return spans
    return [each for each in spans if each == span]


def spans_with(base: str, source: RegionMap, region: Region) -> list[int]:
    """Return the spans of a header whose own hash begins with `base`."""
    return [index for index, span in enumerate(region.spans) if hash_bytes(source.cut(span)).startswith(base)]


def flaw_in(before: RegionMap, content: Content, keys: tuple[Key, ...]) -> Flaw | None:
    """Return why the content must not replace `before`: its scope, then its syntax. `keys` are all edited keys."""
    if content.source is None:
        return None
    broken = breach(before, content.map, content.placed)
    # A candidate that does not parse has no meaningful regions, so its syntax error is reported first.
    if problem := _problem(before, content.map, content.placed, keeps_scope=broken is None):
        why = f"{before.path} would not compile: {problem.message}"
        return Flaw(Refusal.PARSE_INVALID, why, (broken.key,) if broken else keys)
    # It compiles, but no part of it could be leased or edited any more.
    if content.map.exceeds_budget and not before.exceeds_budget:
        why = f"{before.path} would have no regions any more: {content.map.problems[0].message}"
        return Flaw(Refusal.PARSE_INVALID, why, keys)
    if broken is None:
        return None
    return Flaw(Refusal.OUT_OF_SCOPE_EDIT, f"{broken.message}; {broken.hint}", (broken.key,))


def _problem(before: RegionMap, after: RegionMap, placed: tuple[Placed, ...], *, keeps_scope: bool) -> Problem | None:
    """Return the result of `problem_in`; for Python that compiled recently, unchanged parts are not compiled again.

    New content of a whole file counts as an edit of the one definition in which it differs, if there is one.
    """
    if {before.language, after.language} != {PYTHON.name}:
        return problem_in(after.source, before.path, before.source)
    if _COMPILED.get(after.source):
        return None
    if not placed or any(each.edit.is_whole_file for each in placed):
        placed = _as_edit(before, after)
        keeps_scope = breach(before, after, placed) is None
    is_known = keeps_scope and _COMPILED.get(before.source) and still_compiles(before, after, placed, seen_from_outside)
    if not is_known and problem_in(after.source, before.path):
        return problem_in(after.source, before.path, before.source)
    _COMPILED.put(after.source, value=True)
    return None


def _as_edit(before: RegionMap, after: RegionMap) -> tuple[Placed, ...]:
    """Return new content of a whole file as the edit of one definition; nothing if it differs anywhere else."""
    change = Change.between(before.source, after.source)
    for old in before.leaves():
        if old.is_body and old.start <= change.start and change.old_end <= old.end:
            new = after.by_key.get(old.key)
            if new is None or (new.start, new.end) != (old.start, old.end + change.new_end - change.old_end):
                return ()
            return (Placed(Replace(old, after.bytes_of(new).decode(errors="replace")), new.start, new.end),)
    return ()
