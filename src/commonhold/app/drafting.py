"""One file's part of a changeset: from its edits to its new bytes, or to why they cannot be."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.app.plan import Admission, Rejected, Stale
from commonhold.app.reading import Looked, no_file
from commonhold.domain.changeset import Edit, Op
from commonhold.domain.errors import Code, InputError
from commonhold.domain.keys import Key
from commonhold.domain.refusal import Refusal
from commonhold.regions.discover import discover, rediscover
from commonhold.regions.edit import Delete, Insert, Placed, Replace, splice
from commonhold.regions.find import find
from commonhold.regions.region import Problem, Region, RegionMap, hash_bytes
from commonhold.regions.scope import breach, neighbours, placed_region
from commonhold.regions.syntax import problem_in
from commonhold.semantics.admission import Changed, examine

MIN_BASE_LENGTH: Final = 16
HASH_LENGTH: Final = 64
_WHOLE_FILE: Final = frozenset({Op.CREATE_FILE, Op.DELETE_FILE})


@dataclass(frozen=True, slots=True)
class KeyedEdit:
    """An edit with the canonical keys of what it names; the regions of them need not be there."""

    edit: Edit
    key: Key
    after: Key | None = None
    to: Key | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the edit gives or takes the content of the whole file."""
        return self.edit.op in _WHOLE_FILE or (self.edit.op is Op.REPLACE and not self.key.is_region)


@dataclass(frozen=True, slots=True)
class Touched:
    """What one edit did: the region before (None: new) and after (None: gone)."""

    before: Region | None
    after: Region | None


@dataclass(frozen=True, slots=True)
class Draft:
    """One file before and after. `source` is None where the file ends; `mode` is the new permission bits, if given."""

    path: str
    target: str
    looked: Looked | None
    source: bytes | None
    mode: int | None
    before_map: RegionMap
    after_map: RegionMap
    touched: tuple[Touched, ...]
    admission: Admission | None


@dataclass(frozen=True, slots=True)
class _Content:
    source: bytes | None
    map: RegionMap
    placed: tuple[Placed, ...] = ()


def draft(
    path: str, looked: Looked | None, edits: Sequence[KeyedEdit], is_kept: Callable[[str], bool]
) -> Draft | Rejected:
    """Apply all edits of one file to it as it was looked at.

    `is_kept(base)` says whether content with that hash was ever read through us: it tells a region that is gone
    from one that never was. Raises InputError for edits that make no sense whatever the file holds.
    """
    _check_combination(path, edits)
    stale = tuple(found for edit in edits for found in _stale(edit, looked, is_kept))
    if stale:
        return Rejected(Refusal.REGION_CHANGED, _stale_message(stale), tuple(each.key for each in stale), stale)
    before_map = looked.map if looked else discover(b"", path)
    content = _content(before_map, edits)
    if rejected := _out_of_scope(before_map, content):
        return rejected
    former = looked.map.source if looked else None
    problem = None if content.source is None else problem_in(content.source, path, former)
    if problem:
        return _not_compiling(path, problem, tuple(edit.key for edit in edits))
    touched = tuple(_touched(before_map, content, edits))
    return Draft(
        path=path,
        target=next((edit.to.file_path for edit in edits if edit.to), path),
        looked=looked,
        source=content.source,
        mode=_mode(edits),
        before_map=before_map,
        after_map=content.map,
        touched=touched,
        admission=_admission(before_map, content, touched),
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


def changeset_invalid(message: str, hint: str) -> InputError:
    """The error for a changeset that makes no sense."""
    return InputError(Code.CHANGESET_INVALID, message, hint=hint)


def _stale(keyed: KeyedEdit, looked: Looked | None, is_kept: Callable[[str], bool]) -> Iterator[Stale]:
    edit, key = keyed.edit, keyed.key
    region = looked.region(key.names) if looked else None
    if edit.op in (Op.CREATE_FILE, Op.INSERT):
        if region is not None and looked is not None:
            yield Stale(edit.key, key, None, looked.map, region)
        return
    base = _base(keyed)
    if region is None or looked is None:
        if base is None or not is_kept(base):
            raise _absent(looked, key)
        yield Stale(edit.key, key, base, None, None)
    elif base is not None and not _is_base_of(base, edit.span, looked.map, region):
        yield Stale(edit.key, key, base, looked.map, region, edit.span)


def _absent(looked: Looked | None, key: Key) -> InputError:
    if looked is not None:
        find(looked.map, key.names)
    return no_file(key.file_path)


def _base(keyed: KeyedEdit) -> str | None:
    edit = keyed.edit
    if edit.base is None:
        if edit.op is Op.CHMOD:
            return None
        raise changeset_invalid(
            f"the edit of {keyed.key} has no base, so nobody could tell whether it was made for what is there",
            "read the region first and give its hash as base",
        )
    return check_hash(edit.base, f"the base of {keyed.key}")


def check_hash(text: str, what: str) -> str:
    """Check that a text is a hash or enough of one. Raises InputError `CHANGESET_INVALID`."""
    if not MIN_BASE_LENGTH <= len(text) <= HASH_LENGTH or set(text) - set("0123456789abcdef"):
        raise changeset_invalid(
            f"{what} is not a hash: {text[:80]!r}",
            f"give the hash that reading the region gave, or at least its first {MIN_BASE_LENGTH} digits",
        )
    return text


def _is_base_of(base: str, span: int | None, source: RegionMap, region: Region) -> bool:
    if region.hash.startswith(base):
        return True
    return region.key.is_header and bool(_spans_meant(_spans_with(base, source, region), span))


def _spans_meant(spans: Sequence[int], span: int | None) -> Sequence[int]:
    """Of the spans that have the base's hash, those that the edit can mean: the one it names, or the only one.

    Inserts of others shift the numbers: a hash that stands only once is surer than a number. Where it stands more
    than once, the number must be that of one of them.
    """
    if span is None or len(spans) == 1:
        return spans
    return [each for each in spans if each == span]


def _spans_with(base: str, source: RegionMap, region: Region) -> list[int]:
    """The spans of a header whose own hash is `base`."""
    return [
        index
        for index, (start, end) in enumerate(region.spans)
        if hash_bytes(source.source[start:end]).startswith(base)
    ]


def _stale_message(stale: Sequence[Stale]) -> str:
    gone = [str(each.key) for each in stale if each.region is None]
    taken = [str(each.key) for each in stale if each.region is not None and not each.base]
    changed = [str(each.key) for each in stale if each.region is not None and each.base]
    parts = ((changed, "changed since the edit was begun"), (gone, "not there any more"), (taken, "there already"))
    return "; ".join(f"{', '.join(keys)}: {what}" for keys, what in parts if keys)


def _content(before: RegionMap, edits: Sequence[KeyedEdit]) -> _Content:
    if any(edit.edit.op is Op.DELETE_FILE for edit in edits):
        return _Content(None, discover(b"", before.path))
    data = next((edit.edit.data for edit in edits if edit.edit.data is not None), None)
    if data is not None:
        return _Content(data, discover(data, before.path))
    splices = [_splice_of(before, edit) for edit in edits if edit.edit.op not in (Op.CHMOD, Op.RENAME_FILE)]
    if not splices:
        return _Content(before.source, before)
    spliced = splice(before, splices)
    return _Content(spliced.source, rediscover(before, spliced.source), spliced.placed)


def _splice_of(before: RegionMap, keyed: KeyedEdit) -> Replace | Insert | Delete:
    edit, key = keyed.edit, keyed.key
    if edit.op is Op.INSERT:
        after = find(before, keyed.after.names) if keyed.after else None
        container = find(before, key.names[:-1])
        return Insert(key, after, container, edit.text or "")
    region = find(before, key.names)
    if edit.op is Op.DELETE:
        return Delete(region)
    return Replace(region, edit.text or "", _span(before, region, keyed))


def _span(before: RegionMap, region: Region, keyed: KeyedEdit) -> int | None:
    edit = keyed.edit
    if not region.key.is_header:
        return None
    if edit.base is None or region.hash.startswith(edit.base):
        return edit.span
    spans = _spans_meant(_spans_with(edit.base, before, region), edit.span)
    if len(spans) > 1:
        raise changeset_invalid(
            f"{len(spans)} spans of {keyed.key} have the hash {edit.base}",
            f"say which one with span: {', '.join(map(str, spans))}",
        )
    return spans[0]


def _out_of_scope(before: RegionMap, content: _Content) -> Rejected | None:
    if content.source is None or not content.placed:
        return None
    broken = breach(before, content.map, content.placed)
    if broken is None:
        return None
    # A candidate that does not parse has no regions to speak of: say that instead.
    problem = problem_in(content.source, before.path, before.source)
    if problem:
        return _not_compiling(before.path, problem, (broken.key,))
    return Rejected(Refusal.OUT_OF_SCOPE_EDIT, f"{broken.message}; {broken.hint}", (broken.key,))


def _touched(before: RegionMap, content: _Content, edits: Sequence[KeyedEdit]) -> Iterator[Touched]:
    if not content.placed:
        changes_content = content.source != before.source or any(edit.is_whole for edit in edits)
        is_new = any(edit.edit.op is Op.CREATE_FILE for edit in edits)
        if changes_content:
            yield Touched(None if is_new else before.file, None if content.source is None else content.map.file)
    for placed in content.placed:
        match placed.edit:
            case Delete(region):
                yield Touched(region, None)
            case Insert():
                yield Touched(None, placed_region(content.map, placed))
            case Replace(region):
                is_new = any(edit.edit.op is Op.CREATE_FILE for edit in edits)
                yield Touched(None if is_new else region, placed_region(content.map, placed))
    for old, new in neighbours(before, content.map, content.placed):
        yield Touched(old, new)


def _not_compiling(path: str, problem: Problem, keys: tuple[Key, ...]) -> Rejected:
    return Rejected(Refusal.PARSE_INVALID, f"{path} would not compile: {problem.message}", keys)


def _admission(before: RegionMap, content: _Content, touched: Sequence[Touched]) -> Admission | None:
    if content.source is None or not touched:
        return None
    changed = [
        Changed(each.before.key if each.before else None, each.after.key if each.after else None) for each in touched
    ]
    findings = examine(before, content.map, changed)
    return Admission(before.path, findings, frozenset(each.after.key for each in touched if each.after))


def _mode(edits: Sequence[KeyedEdit]) -> int | None:
    return next((int(edit.edit.mode[-3:], 8) for edit in edits if edit.edit.mode is not None), None)
