"""One file's part of a changeset: from its edits to its new bytes, or to the reason of a rejection."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from commonhold.code.analysis.admission import Changed, examine
from commonhold.code.regions.discover import discover
from commonhold.code.regions.edit import Delete, Insert, Replace, splice
from commonhold.code.regions.find import find
from commonhold.code.regions.region import Region, RegionMap
from commonhold.code.regions.rewritten_regions import only_grew, rewritten
from commonhold.code.regions.scope import neighbours, placed_region
from commonhold.commits.apply_edits import Content, Flaw, applied, flaw_in, spans_meant, spans_with
from commonhold.commits.counted_keys import with_base
from commonhold.commits.plan import Admission, Rejected
from commonhold.commits.resolved_edits import KeyedEdit, base_of, changeset_invalid
from commonhold.commits.three_way_commit import Joint, Late
from commonhold.kernel.answers import Unmerged
from commonhold.kernel.changeset import Op
from commonhold.kernel.keys import Key
from commonhold.kernel.refusals import Refusal
from commonhold.reads.reading import ParsedFile, no_file
from commonhold.reads.stale_base import Stale

Join = Callable[[RegionMap, Sequence[KeyedEdit], Sequence[Late]], Joint | Unmerged | None]
"""A function that merges edits some of whose bases are gone; it returns None if no merge is tried."""


@dataclass(frozen=True, slots=True)
class Touched:
    """The effect of one edit: the region before (None: new) and after (None: gone).

    `only_grew`: it is a header that gained lines and lost none, which conflicts with no lease on the regions beside it.
    """

    before: Region | None
    after: Region | None
    only_grew: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """One file before and after. `source` is None for a deleted file; `mode` is the new permission bits, if given.

    `joint` is the merge of the edits with others' changes to their bases, if one was necessary.
    """

    path: str
    target: str
    looked: ParsedFile | None
    source: bytes | None
    mode: int | None
    before_map: RegionMap
    after_map: RegionMap
    touched: tuple[Touched, ...]
    joint: Joint | None = None


def draft(
    path: str, looked: ParsedFile | None, edits: Sequence[KeyedEdit], is_kept: Callable[[str], bool], join: Join
) -> Draft | Rejected:
    """Apply all edits of one file to the version that was read, or `join` them if their bases have changed.

    `is_kept(base)` says whether content with that hash was ever read through Commonhold: it distinguishes a region that
    is gone from one that never existed. Raises InputError for edits that are invalid for any content.
    """
    _check_combination(path, edits)
    wanted = [_without_done(_followed(edit, looked), looked) for edit in edits]
    late = [Late(edit, found) for edit in wanted if (found := _stale(edit, looked, is_kept))]
    before = looked.map if looked else discover(b"", path)
    joint = join(before, wanted, late) if late else None
    if isinstance(joint, Joint):
        return replace(_drafted(before, looked, wanted, joint.content), joint=joint)
    if late:
        return _changed(late, joint)
    content = applied(before, wanted)
    if flaw := flaw_in(before, content, tuple(edit.key for edit in wanted)):
        return _flawed(flaw)
    return _drafted(before, looked, wanted, content)


def _followed(keyed: KeyedEdit, looked: ParsedFile | None) -> KeyedEdit:
    """Return the edit with the present key of the definition that was its base."""
    if looked is None or keyed.edit.op not in (Op.REPLACE, Op.DELETE):
        return keyed
    return replace(keyed, key=with_base(looked.map, keyed.key, keyed.edit.base))


def _stale(keyed: KeyedEdit, looked: ParsedFile | None, is_kept: Callable[[str], bool]) -> Stale | None:
    """Return the present state if it differs from the base of the edit; None if the base is still there.

    Raises InputError for a region that does not exist and, according to the store, never did.
    """
    edit, key = keyed.edit, keyed.key
    region = looked.region(key.names) if looked else None
    if edit.op in (Op.CREATE_FILE, Op.INSERT):
        return None if region is None or looked is None else Stale(edit.key, key, None, looked.map, region)
    base = base_of(keyed)
    if region is None or looked is None:
        if base is not None and is_kept(base):
            return Stale(edit.key, key, base, None, None)
        if looked is not None:
            find(looked.map, key.names)  # raises the error, which suggests similar names
        raise no_file(key.file_path)
    if base is None or region.hash.startswith(base):
        return None
    if region.key.is_header and spans_meant(spans_with(base, looked.map, region), edit.span):
        return None
    return Stale(edit.key, key, base, looked.map, region, edit.span)


def _without_done(keyed: KeyedEdit, looked: ParsedFile | None) -> KeyedEdit:
    """Return the edit; an insert of exactly the existing definition becomes a replacement that changes nothing."""
    edit = keyed.edit
    region = looked.region(keyed.key.names) if looked and edit.op is Op.INSERT else None
    if looked is None or region is None or not region.is_definition:
        return keyed
    same = splice(looked.map, [Replace(region, edit.text or "")]).source == looked.map.source
    return replace(keyed, edit=replace(edit, op=Op.REPLACE, base=region.hash, after=None)) if same else keyed


def drafted(path: str, looked: ParsedFile | None, edits: Sequence[KeyedEdit]) -> tuple[Draft, Rejected | None]:
    """Return the draft of whole-file edits that already took effect, and the rejection that was due, if any."""
    before = looked.map if looked else discover(b"", path)
    content = applied(before, edits)
    flaw = flaw_in(before, content, tuple(edit.key for edit in edits))
    return _drafted(before, looked, edits, content), _flawed(flaw) if flaw else None


def _changed(late: Sequence[Late], unmerged: Unmerged | None) -> Rejected:
    found = tuple(each.stale for each in late)
    gone = [str(each.key) for each in found if each.region is None]
    taken = [str(each.key) for each in found if each.region is not None and not each.base]
    changed = [str(each.key) for each in found if each.region is not None and each.base]
    parts = ((changed, "changed since the edit was begun"), (gone, "not there any more"), (taken, "there already"))
    why = "; ".join(f"{', '.join(keys)}: {what}" for keys, what in parts if keys)
    keys = tuple(each.key for each in found)
    return Rejected(Refusal.REGION_CHANGED, why, keys, found, unmerged=(unmerged,) if unmerged else ())


def _flawed(flaw: Flaw) -> Rejected:
    return Rejected(flaw.code, flaw.why, flaw.keys)


def _drafted(before: RegionMap, looked: ParsedFile | None, edits: Sequence[KeyedEdit], content: Content) -> Draft:
    touched = tuple(_touched(before, content, edits))
    return Draft(
        path=before.path,
        target=next((edit.to.file_path for edit in edits if edit.to), before.path),
        looked=looked,
        source=content.source,
        mode=next((int(edit.edit.mode[-3:], 8) for edit in edits if edit.edit.mode is not None), None),
        before_map=before,
        after_map=content.map,
        touched=touched,
    )


def _check_combination(path: str, edits: Sequence[KeyedEdit]) -> None:
    wholes = sum(edit.is_whole for edit in edits)
    parts = sum(edit.key.is_region for edit in edits)
    renames = sum(edit.edit.op is Op.RENAME_FILE for edit in edits)
    deletes = any(edit.edit.op is Op.DELETE_FILE for edit in edits)
    if wholes > 1 or renames > 1 or (wholes and parts) or (deletes and len(edits) > 1):
        raise changeset_invalid(
            f"the edits of {path} contradict each other",
            "give a file either one whole-file edit or edits of its regions, and at most one rename",
        )


def _touched(before: RegionMap, content: Content, edits: Sequence[KeyedEdit]) -> Iterator[Touched]:
    if content.source is not None and any(edit.edit.op is Op.REWRITE for edit in edits):
        for old, new in rewritten(before, content.map):
            is_header = old is not None and new is not None and old.key.is_header
            grew = old is not None and is_header and only_grew(before, content.map, old.key)
            yield Touched(old, new, only_grew=grew)
        return
    is_new = any(edit.edit.op is Op.CREATE_FILE for edit in edits)
    changes_content = content.source != before.source or any(edit.is_whole for edit in edits)
    if not content.placed and changes_content:
        yield Touched(None if is_new else before.file, None if content.source is None else content.map.file)
    for placed in content.placed:
        match placed.edit:
            case Delete(region):
                yield Touched(region, None)
            case Insert():
                yield Touched(None, placed_region(content.map, placed))
            case Replace(region):
                yield Touched(None if is_new else region, placed_region(content.map, placed))
    for old, new in neighbours(before, content.map, content.placed):
        yield Touched(old, new)


def admission_of(each: Draft) -> Admission | None:
    """Return what admission finds in the file itself; None if no region is written, or the file is deleted."""
    if each.source is None or not each.touched:
        return None
    changed = [
        Changed(one.before.key if one.before else None, one.after.key if one.after else None) for one in each.touched
    ]
    findings = examine(each.before_map, each.after_map, changed)
    return Admission(each.path, findings, written(each.before_map, each.after_map, each.touched))


def written(before: RegionMap, after: RegionMap, touched: Sequence[Touched]) -> frozenset[Key]:
    """Return the leaves that the edits write: of a file or class given as a whole, those that differ from before."""
    given = {each.after.key for each in touched if each.after}
    old = before.by_key
    leaves = ((leaf, old.get(leaf.key)) for leaf in after.leaves())
    keys = (leaf.key for leaf, was in leaves if was is None or was.hash != leaf.hash or leaf.key in given)
    return frozenset(key for key in keys if not given.isdisjoint(key.upward()))
