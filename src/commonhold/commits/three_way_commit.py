"""Merge edits whose bases have changed, if the result is proven to keep the meaning of both sides."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from commonhold.code.regions.region import Region, RegionMap, Span, hash_bytes
from commonhold.code.regions.scope import placed_region
from commonhold.code.regions.text_conventions import Style
from commonhold.commits.apply_edits import Content, flaw_in
from commonhold.commits.rebase import Origin, origin_of
from commonhold.commits.resolved_edits import KeyedEdit
from commonhold.commits.three_versions import Versions, versions_of
from commonhold.kernel.answers import MergedRegion, Obstacle, Unmerged
from commonhold.kernel.changeset import Op
from commonhold.kernel.errors import InputError
from commonhold.kernel.events import Merge
from commonhold.kernel.policy import Policies
from commonhold.kernel.unified_diff import difference
from commonhold.merging.verdict import Proven, Reason, Sides, Unproven
from commonhold.reads.content_history import Author, ContentHistory, called, changed_by, intents
from commonhold.reads.stale_base import Stale

MAX_NAME_LENGTH: Final = 80
_MERGED: Final = frozenset({Op.REPLACE, Op.REWRITE})
MergeFiles = Callable[[bytes, bytes, bytes, str, Sides | None], Proven | Unproven]
"""A function that merges base, ours and theirs of the file at a path, with these names of the sides."""


@dataclass(frozen=True, slots=True)
class Late:
    """An edit, and the present state of its region, which is no longer its base."""

    edit: KeyedEdit
    stale: Stale


@dataclass(frozen=True, slots=True)
class Joint:
    """One file's edits, merged with the changes that others made to their bases.

    `regions` are for the answer, `merges` for the log; `contents` are the texts, by hash, that no file contains any
    more.
    """

    content: Content
    regions: tuple[MergedRegion, ...]
    merges: tuple[Merge, ...]
    notes: tuple[str, ...]
    contents: Mapping[str, bytes]


Authors = Mapping[Origin, tuple[Author, ...]]
"""The authors of the changes since each edit's base."""


class ThreeWayCommit:
    """Merges edits, if the project allows it."""

    def __init__(self, past: ContentHistory, policies: Policies, merge: MergeFiles) -> None:
        """Look up the bases of edits in `past`; `policies` say which regions are never merged."""
        self._past = past
        self._policies = policies
        self._merge = merge

    def join(
        self, intent: str, theirs: RegionMap, edits: Sequence[KeyedEdit], late: Sequence[Late]
    ) -> Joint | Unmerged | None:
        """Apply all edits of a file to it; the `late` ones as if they had been made in time.

        Return None if no merge is tried: the base of an edit is unknown, or the policies forbid merging there.
        """
        if not all(each.edit.edit.op in _MERGED and self._policies.merges(each.stale.key) for each in late):
            return None
        origins = {each.edit: origin for each in late if (origin := origin_of(self._past, each.stale))}
        if len(origins) < len(late):
            return None
        try:
            versions = versions_of(theirs, edits, origins)
        except InputError:
            return None  # An edit did not fit its own base: the present state of the regions is the better answer.
        authors = {origins[each.edit]: self._past.authors(each.stale) for each in late}
        return None if versions is None else self._joined(intent, versions, authors)

    def _joined(self, intent: str, versions: Versions, authors: Authors) -> Joint | Unmerged:
        keys = tuple(origin.key for origin in authors)
        if flaw := flaw_in(versions.base, versions.ours, keys):
            return _unmerged(versions, [Obstacle(flaw.code, flaw.why)], None)
        sides = _sides(intent, tuple(chain.from_iterable(authors.values())))
        theirs = versions.theirs
        found = self._merge(versions.base.source, versions.ours.source or b"", theirs.source, theirs.path, sides)
        if isinstance(found, Unproven):
            return _unmerged(versions, [Obstacle(spot.reason, spot.why) for spot in found.spots], found.marked)
        content = versions.in_merged(found.source)
        flaw = flaw_in(theirs, content, keys) if content else None
        if content is None or flaw:
            why = flaw.why if flaw else "the merge would change text that the edits do not name"
            return _unmerged(versions, [Obstacle(Reason.GATE, why)], None)
        return _joint(versions, content, authors, found.notes)


def _sides(intent: str, authors: Sequence[Author]) -> Sides:
    ours = f"yours: {intent}" if intent else "yours"
    holders, wanted = called(changed_by(authors) or ""), intents(authors)
    theirs = f"{holders}: {wanted}" if holders and wanted else holders or "changed outside Commonhold"
    return Sides(_shortened(ours), _shortened(theirs))


def _shortened(name: str) -> str:
    return name if len(name) <= MAX_NAME_LENGTH else name[: MAX_NAME_LENGTH - 1] + "…"


def _unmerged(versions: Versions, obstacles: Sequence[Obstacle], marked: bytes | None) -> Unmerged:
    """Return why the merge failed. The marked text is only that of the region if just one region was edited."""
    theirs = versions.theirs
    key, text = theirs.file.key, marked
    if marked is not None and len(versions.parts) == 1 and (origin := versions.parts[0].origin):
        head, tail = theirs.source[: origin.span[0]], theirs.source[origin.span[1] :]
        if len(marked) >= len(head) + len(tail) and marked.startswith(head) and marked.endswith(tail):
            key, text = origin.key, marked[len(head) : len(marked) - len(tail)]
    return Unmerged(str(key), tuple(obstacles), None if text is None else Style.of(theirs).text_of(text))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result of one late edit: its region, and the bytes that were sent and those that are there now."""

    origin: Origin
    region: Region
    span: Span
    sent: bytes
    merged: bytes


def _joint(versions: Versions, content: Content, authors: Authors, notes: tuple[str, ...]) -> Joint:
    outcomes = tuple(_outcomes(versions, content))
    theirs = versions.theirs
    contents = [each.origin.data for each in outcomes] + [each.sent for each in outcomes]
    return Joint(
        content,
        tuple(_region(content.map, each, authors[each.origin], notes) for each in outcomes),
        tuple(_merge(theirs, each) for each in outcomes),
        tuple(_told(each, authors[each.origin]) for each in outcomes)
        + tuple(f"in {theirs.path}: {note}" for note in notes),
        {hash_bytes(data): data for data in contents},
    )


def _outcomes(versions: Versions, content: Content) -> Iterator[_Outcome]:
    source, ours = content.source or b"", versions.ours.source or b""
    if not content.placed:  # The file's whole content was given.
        origin = versions.parts[0].origin
        if origin is not None:
            yield _Outcome(origin, content.map.file, (0, len(source)), ours, source)
        return
    for part, old, new in zip(versions.parts, versions.ours.placed, content.placed, strict=True):
        if part.origin is not None:
            span = (new.start, new.end)
            region = placed_region(content.map, new)
            yield _Outcome(part.origin, region, span, ours[old.start : old.end], source[new.start : new.end])


def _region(merged: RegionMap, outcome: _Outcome, authors: Sequence[Author], notes: tuple[str, ...]) -> MergedRegion:
    style = Style.of(merged)
    sent, text = style.text_of(outcome.sent), style.text_of(outcome.merged)
    diff = None
    if sent is not None and text is not None:
        diff = difference(sent.splitlines(), text.splitlines(), "yours", "merged")
    return MergedRegion(
        key=str(outcome.region.key),
        hash=outcome.region.hash,
        text=text,
        changed_by=changed_by(authors),
        intent=intents(authors),
        notes=notes,
        diff=diff,
        span=outcome.region.spans.index(outcome.span) if outcome.region.key.is_header else None,
    )


def _merge(theirs: RegionMap, outcome: _Outcome) -> Merge:
    origin = outcome.origin
    hashes = map(hash_bytes, (origin.data, theirs.cut(origin.span), outcome.sent))
    return Merge(str(outcome.region.key), *hashes)


def _told(outcome: _Outcome, authors: Sequence[Author]) -> str:
    holders, wanted = changed_by(authors), intents(authors)
    if holders is None:
        return f"{outcome.region.key} was merged with a change made outside Commonhold"
    return f"{outcome.region.key} was merged with what {called(holders)} changed" + (f' ("{wanted}")' if wanted else "")
