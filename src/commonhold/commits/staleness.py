"""Whether the base of an edit is the present content."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from commonhold.code.regions.edit import Replace, splice
from commonhold.code.regions.find import find
from commonhold.code.regions.region import Region, RegionMap
from commonhold.commits.apply_edits import spans_meant, spans_with
from commonhold.commits.resolved_edits import KeyedEdit, base_of
from commonhold.kernel.changeset import Op
from commonhold.kernel.errors import InputError
from commonhold.kernel.keys import Key
from commonhold.reads.reading import ParsedFile, no_file
from commonhold.reads.stale_base import Stale


def stale(keyed: KeyedEdit, looked: ParsedFile | None, is_kept: Callable[[str], bool]) -> Stale | None:
    """Return the present state if it differs from the base of the edit; None if the base is still there.

    Raises InputError for a region that does not exist and, according to the store, never did.
    """
    edit, key = keyed.edit, keyed.key
    region = looked.region(key.names) if looked else None
    if edit.op in (Op.CREATE_FILE, Op.INSERT):
        return None if region is None or looked is None else Stale(edit.key, key, None, looked.map, region)
    base = base_of(keyed)
    if region is None or looked is None:
        if base is None or not is_kept(base):
            raise _absent(looked, key)
        return Stale(edit.key, key, base, None, None)
    if base is None or _is_base_of(base, edit.span, looked.map, region):
        return None
    return Stale(edit.key, key, base, looked.map, region, edit.span)


def _absent(looked: ParsedFile | None, key: Key) -> InputError:
    if looked is not None:
        find(looked.map, key.names)
    return no_file(key.file_path)


def _is_base_of(base: str, span: int | None, source: RegionMap, region: Region) -> bool:
    if region.hash.startswith(base):
        return True
    return region.key.is_header and bool(spans_meant(spans_with(base, source, region), span))


def without_done(keyed: KeyedEdit, looked: ParsedFile | None) -> KeyedEdit:
    """Return the edit; an insert of exactly the existing definition becomes a replacement that changes nothing."""
    edit = keyed.edit
    region = looked.region(keyed.key.names) if looked and edit.op is Op.INSERT else None
    if looked is None or region is None or not region.is_definition:
        return keyed
    same = splice(looked.map, [Replace(region, edit.text or "")]).source == looked.map.source
    return replace(keyed, edit=replace(edit, op=Op.REPLACE, base=region.hash, after=None)) if same else keyed


def stale_message(stale: Sequence[Stale]) -> str:
    """Return a message about the changes to the bases."""
    gone = [str(each.key) for each in stale if each.region is None]
    taken = [str(each.key) for each in stale if each.region is not None and not each.base]
    changed = [str(each.key) for each in stale if each.region is not None and each.base]
    parts = ((changed, "changed since the edit was begun"), (gone, "not there any more"), (taken, "there already"))
    return "; ".join(f"{', '.join(keys)}: {what}" for keys, what in parts if keys)
