"""From a changeset to the plan of a commit, or to the reason why there is none.

Planning only reads, so that the slow part of a commit (parsing, compiling, admission) can run outside the gate.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Final

from commonhold.code.analysis.repository.library import Library
from commonhold.code.regions.region import RegionMap
from commonhold.commits.contract_changes import contracts_changed, texts_of
from commonhold.commits.counted_keys import with_base
from commonhold.commits.cross_file_admission import CrossFileAdmission
from commonhold.commits.draft import Draft, Join, admission_of, draft, drafted
from commonhold.commits.plan import CrossFileEffects, Plan, Rejected
from commonhold.commits.resolved_edits import KeyedEdit, changeset_invalid, check_hash
from commonhold.commits.three_way_commit import Late, ThreeWayCommit
from commonhold.kernel import texts
from commonhold.kernel.answers import RegionHash
from commonhold.kernel.changeset import Changeset, Edit, Op, Read
from commonhold.kernel.errors import InputError
from commonhold.kernel.events import RegionChange
from commonhold.kernel.files import Files, Stamp, Write
from commonhold.kernel.keys import FILE, Key
from commonhold.kernel.refusals import Refusal
from commonhold.reads.content_history import ContentHistory
from commonhold.reads.reading import FileCache, RegionReader, contents_of
from commonhold.reads.stale_base import Stale

MAX_EDITS: Final = 1000
_NOTHING: Final = "nothing was changed: the files are already as the edits would have them"
_OWNER_MAY_READ: Final = 0o400
_MODE: Final = re.compile(r"(?:100|0o|0)?[0-7]{3}")
_NEEDS_TEXT: Final = frozenset({Op.REPLACE, Op.INSERT, Op.CREATE_FILE, Op.REWRITE})
_ON_REGIONS: Final = frozenset({Op.INSERT, Op.DELETE})
_ON_FILES: Final = frozenset({Op.CREATE_FILE, Op.DELETE_FILE, Op.RENAME_FILE, Op.CHMOD, Op.REWRITE})


class Planner:
    """Plans commits to the files of one working tree."""

    def __init__(
        self,
        files: Files,
        reading: RegionReader,
        past: ContentHistory,
        joining: ThreeWayCommit,
        crossing: CrossFileAdmission | None = None,
    ) -> None:
        """Read `files` through `reading`; `past` knows earlier contents, `joining` merges edits whose base has changed.

        `crossing` examines the effects on other files; without it each file is examined alone.
        """
        self._files = files
        self._reading = reading
        self._past = past
        self._joining = joining
        self._crossing = crossing

    def paths(self, changeset: Changeset) -> tuple[str, ...]:
        """Return the files that the changeset writes. Raises InputError for an invalid one."""
        _check(changeset)
        moved = (self._code_key(edit.to).file_path for edit in changeset.edits if edit.to is not None)
        return (*self._by_path(changeset), *moved)

    def plan(self, changeset: Changeset, earlier: CrossFileEffects | None = None) -> Plan | Rejected:
        """Compute the writes of the changeset. Raises InputError for an invalid one.

        `earlier` are the findings of an earlier plan of it: slow results are kept if the regions and the links are the
        same.
        """
        _check(changeset)
        by_path = self._by_path(changeset)
        glances = self._reading.glances()
        join: Join = partial(self._joining.join, changeset.intent) if changeset.merge else _never
        results = [draft(path, glances[path], edits, self._past.is_kept, join) for path, edits in by_path.items()]
        drafts = [each for each in results if isinstance(each, Draft)]
        rejected = [each for each in results if isinstance(each, Rejected)]
        rejected += self._stale_reads(changeset.reads, glances)
        rejected += _taken_targets(drafts, glances)
        return _gravest(rejected, glances.seen()) if rejected else self._plan(drafts, glances, earlier)

    def done(self, changeset: Changeset) -> tuple[Plan, Rejected | None]:
        """Return the plan of edits that already took effect, and why they would have been rejected."""
        glances = self._reading.glances()
        made = [drafted(path, glances[path], edits) for path, edits in self._by_path(changeset).items()]
        rejected = [each for _, each in made if each]
        plan = self._plan([each for each, _ in made], glances)
        return plan, _gravest(rejected, plan.seen) if rejected else None

    def _by_path(self, changeset: Changeset) -> dict[str, list[KeyedEdit]]:
        by_path: dict[str, list[KeyedEdit]] = {}
        for edit in changeset.edits:
            _check_edit(edit)
            key = self._code_key(edit.key)
            after = self._code_key(edit.after) if edit.after is not None else None
            to = self._code_key(edit.to) if edit.to is not None else None
            _check_keys(edit, key, after, to)
            by_path.setdefault(key.file_path, []).append(KeyedEdit(edit, key, after, to))
        return by_path

    def is_current(self, planned: Plan | Rejected) -> bool:
        """Whether the files that were read still have the same stamps."""
        return self._reading.is_current(planned.seen)

    def library(self) -> Library | None:
        """Return the present summaries of all files of the repository; None if each file is examined alone."""
        return self._crossing.library() if self._crossing else None

    def still_links(self, crossed: CrossFileEffects) -> bool:
        """Whether an examination of other files would now find the same."""
        return self._crossing is None or self._crossing.is_current(crossed)

    def fresh(self, key: Key) -> Stale:
        """Return the present state at `key`, for a repair packet."""
        try:
            looked = self._reading.look(key.file_path)
            region = looked.region(key.names) if looked else None
        except InputError:
            looked = region = None
        return Stale(str(key), key, None, looked.map if looked else None, region)

    def locate(self, text: str) -> Key:
        """Return the canonical key of any form of key."""
        return self._reading.locate(text)

    def _code_key(self, text: str) -> Key:
        key = self._reading.locate(text)
        if key.scheme == FILE and not key.is_folder:
            return key
        raise changeset_invalid(
            f"{key} is not a file or a region of one", "name the edited code as PATH or PATH#QUALNAME"
        )

    def _stale_reads(self, reads: Sequence[Read], glances: FileCache) -> Iterator[Rejected]:
        for read in reads:
            if self._reading.locate(read.key).scheme != FILE:
                continue  # the version of a free key is compared inside the transaction
            key = self._code_key(read.key)
            check_hash(read.hash, f"the hash of {key} in reads")
            looked = glances[key.file_path]
            now = with_base(looked.map, key, read.hash) if looked else key
            region = looked.region(now.names) if looked else None
            if region is None or not region.hash.startswith(read.hash):
                why = f"{key}, which the edits rely on, changed since it was read"
                stale = Stale(read.key, key, read.hash, looked.map if looked else None, region)
                yield Rejected(Refusal.REGION_CHANGED, why, (key,), (stale,))

    def _plan(self, drafts: Sequence[Draft], looked: FileCache, earlier: CrossFileEffects | None = None) -> Plan:
        contents: dict[str, bytes] = {}
        writes = tuple(self._writes(drafts, looked, contents))
        for each in drafts:
            contents |= _region_contents(each)
        joints = [each.joint for each in drafts if each.joint]
        touched = [each for draft in drafts for each in draft.touched]
        crossing = self._crossing.examining(drafts, earlier) if self._crossing else nullcontext(CrossFileEffects)
        with crossing as effects:
            alone = [admission_of(each) for each in drafts]
            crossed = effects()
        # A change without links was already found to keep its contracts.
        contracts = contracts_changed(drafts, crossed) if crossed.is_linked or not self._crossing else ()
        contents |= texts_of(contracts, drafts)
        return Plan(
            seen=looked.seen(),
            writes=writes,
            contents=contents,
            writes_to=tuple(dict.fromkeys(key for each in drafts for key in _writes_to(each))),
            regions=_answered(drafts),
            changes=_net_changes(drafts),
            admissions=tuple(each for each in (*alone, crossed.admission) if each),
            crossed=crossed,
            notices=tuple(note for joint in joints for note in joint.notes) + (() if writes else (_NOTHING,)),
            moves={each.path: each.target for each in drafts if each.target != each.path},
            merged=tuple(region for joint in joints for region in joint.regions),
            merges=tuple(merge for joint in joints for merge in joint.merges),
            contracts=contracts,
            grown=frozenset(each.before.key for each in touched if each.before and each.only_grew),
        )

    def _writes(self, drafts: Sequence[Draft], looked: FileCache, contents: dict[str, bytes]) -> Iterator[Write]:
        final: dict[str, Draft | None] = {each.path: None for each in drafts}
        for each in drafts:
            if each.source is None:
                continue
            if final.get(each.target) is not None:
                raise changeset_invalid(f"two edits would both make {each.target}", "give each file one final name")
            final[each.target] = each
        _check_folders(path for path, new in final.items() if new)
        for path, new in final.items():
            old = looked.get(path)
            write = Write(
                path=path,
                before=old.map.file.hash if old else None,
                after=None,
                mode_before=old.state.mode if old else None,
                mode_after=None,
            )
            if new and new.source is not None:
                self._files.check_size(path, new.source)
                mode = new.looked.state.mode if new.looked else self._files.new_file_mode
                write = replace(
                    write,
                    after=new.after_map.file.hash,
                    mode_after=mode if new.mode is None else new.mode,
                    source=new.path if new.looked else None,
                    made=self._files.missing_folders(path),
                )
            if (write.before, write.mode_before) == (write.after, write.mode_after):
                continue
            if old and write.before:
                contents[write.before] = old.state.content
            if new and new.source is not None and write.after:
                contents[write.after] = new.source
            yield write


PlannerOf = Callable[[Files], Planner]
"""A function that returns the planner of commits to files, given a view of them."""


def _never(_before: RegionMap, _edits: Sequence[KeyedEdit], _late: Sequence[Late]) -> None:
    """Merge nothing: the committer prefers a refusal."""


def _taken_targets(drafts: Sequence[Draft], glances: FileCache) -> Iterator[Rejected]:
    freed = {each.path for each in drafts if each.source is None or each.target != each.path}
    for each in drafts:
        there = glances[each.target] if each.target != each.path else None
        if there is not None and each.target not in freed:
            key = there.map.file.key
            why = f"{each.target} is there already, so {each.path} cannot be renamed to it"
            stale = Stale(each.target, key, None, there.map, there.map.file)
            yield Rejected(Refusal.REGION_CHANGED, why, (key,), (stale,))


def _check_folders(paths: Iterable[str]) -> None:
    """Raise InputError if a path would be a file and a folder at once."""
    kept = set(paths)
    for path in kept:
        above = next((each for each in map(str, PurePosixPath(path).parents) if each in kept), None)
        if above is not None:
            raise changeset_invalid(
                f"{above} cannot be a file while {path} lies in it", "give one of them another name"
            )


def _gravest(rejected: Sequence[Rejected], seen: Mapping[str, Stamp | None]) -> Rejected:
    """Return the gravest of several rejections, with the others of its kind: changed regions come first."""
    stale = [each for each in rejected if each.code is Refusal.REGION_CHANGED]
    chosen = stale or [each for each in rejected if each.code is rejected[0].code]
    return Rejected(
        chosen[0].code,
        "; ".join(each.why for each in chosen),
        tuple(key for each in chosen for key in each.keys),
        tuple(found for each in chosen for found in each.stale),
        tuple(found for each in chosen for found in each.unmerged),
        seen,
    )


def _writes_to(draft: Draft) -> Iterator[Key]:
    if draft.target != draft.path or draft.mode is not None or draft.source is None or draft.looked is None:
        yield draft.before_map.file.key
    if draft.target != draft.path:
        yield draft.before_map.file.key.at(draft.target)
    for touched in draft.touched:
        keys = [region.key for region in (touched.before, touched.after) if region is not None]
        yield from keys
        names = {key.bare() for key in keys}
        if len(names) == len(keys):
            # With one more or one fewer of a name, all others of that name get new counts, so they must be free, too.
            for name in names:
                regions = (*draft.before_map.by_bare_key.get(name, ()), *draft.after_map.by_bare_key.get(name, ()))
                yield from (region.key for region in regions)


def _answered(drafts: Iterable[Draft]) -> tuple[RegionHash, ...]:
    """Return the hash of each written region, None if it is gone; a name that one file lost and another took exists."""
    hashes: dict[str, str | None] = {}
    for each in drafts:
        if not each.touched:
            hashes[str(each.after_map.file.key.at(each.target))] = each.after_map.file.hash
        for touched in each.touched:
            if touched.after is not None:
                hashes[str(touched.after.key.at(each.target))] = touched.after.hash
            elif touched.before is not None:
                hashes.setdefault(str(touched.before.key), None)
    return tuple(RegionHash(key, content_hash) for key, content_hash in hashes.items())


def _net_changes(drafts: Iterable[Draft]) -> tuple[RegionChange, ...]:
    """Return one change for each key: one file losing a name and another taking it are one change."""
    net: dict[str, RegionChange] = {}
    for each in drafts:
        old = each.before_map.regions if each.looked else ()
        new = each.after_map.regions if each.source is not None else ()
        kept = set[int]()
        if each.target == each.path:  # regions around an edit share their key objects
            known = {id(one.key): one.hash for one in old}
            kept = {id(one.key) for one in new if known.get(id(one.key)) == one.hash}
        before = {str(one.key): one.hash for one in old if id(one.key) not in kept}
        after = {str(one.key.at(each.target)): one.hash for one in new if id(one.key) not in kept}
        for key in {**before, **after}:
            if before.get(key) != after.get(key):
                other = net.get(key) or RegionChange(key, None, None)
                net[key] = RegionChange(key, before.get(key) or other.before, after.get(key) or other.after)
    return tuple(each for each in net.values() if each.before != each.after)


def _region_contents(draft: Draft) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    for touched in draft.touched:
        if touched.before is not None:
            contents |= contents_of(draft.before_map, touched.before)
        if touched.after is not None:
            contents |= contents_of(draft.after_map, touched.after)
    return {**contents, **draft.joint.contents} if draft.joint else contents


def _check(changeset: Changeset) -> None:
    texts.check_line(changeset.intent, "intent")
    if not 0 < len(changeset.edits) <= MAX_EDITS:
        raise changeset_invalid(
            f"the changeset has {len(changeset.edits)} edits", f"give it 1 to {MAX_EDITS}; a dry run needs some too"
        )


def _check_edit(edit: Edit) -> None:
    if (edit.text is not None) == (edit.data is not None) and edit.op in _NEEDS_TEXT:
        raise changeset_invalid(
            f"{edit.op} of {edit.key} needs the new content, once", "give text, or data (base64) for a binary file"
        )
    if (edit.op is Op.CHMOD) and edit.mode is None:
        raise changeset_invalid(f"chmod of {edit.key} has no mode", 'give mode as octal digits, such as "755"')
    if edit.mode is not None and not _MODE.fullmatch(edit.mode):
        raise changeset_invalid(f"{edit.mode!r} is not a file mode", 'give three octal digits, such as "644" or "755"')
    if edit.mode is not None and not int(edit.mode[-3:], 8) & _OWNER_MAY_READ:
        raise changeset_invalid(f"mode {edit.mode} would keep the owner from reading {edit.key}", "let the owner read")
    if edit.span is not None and edit.span < 0:
        raise changeset_invalid(f"{edit.span} is no span of {edit.key}", "count the spans from 0")
    if (edit.op is Op.RENAME_FILE) != (edit.to is not None):
        raise changeset_invalid(
            f"{edit.op} of {edit.key}: only rename_file has a to, and it needs one", "name the new path in to"
        )


def _check_keys(edit: Edit, key: Key, after: Key | None, to: Key | None) -> None:
    if edit.op in _ON_REGIONS and not key.is_region:
        hint = (
            "use create_file or delete_file for a whole file"
            if edit.op is Op.DELETE
            else "name the new region as PATH#QUALNAME"
        )
        raise changeset_invalid(f"{edit.op} works on a region, and {key} is a whole file", hint)
    if edit.op in _ON_FILES and key.is_region:
        raise changeset_invalid(
            f"{edit.op} works on a whole file, and {key} is a region", "name the file without #QUALNAME"
        )
    if edit.data is not None and key.is_region:
        raise changeset_invalid(f"{key} is a region of a text, so it takes text, not data", "give text")
    if after is not None and (edit.op is not Op.INSERT or after.file != key.file):
        raise changeset_invalid(
            f"after names {after}, which is no neighbour of {key}", "name a region of the same file, on an insert"
        )
    if to is not None and to.is_region:
        raise changeset_invalid(f"to names the region {to}", "name a path")
