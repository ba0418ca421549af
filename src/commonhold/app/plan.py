"""What planning gives: a plan, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from commonhold.app.answers import MergedRegion, Next, RegionHash, Unmerged
from commonhold.app.ports import Stamp, Write
from commonhold.domain.changeset import Changeset
from commonhold.domain.debt import Debt
from commonhold.domain.events import ContractChange, Merge, RegionChange
from commonhold.domain.keys import Key, canonical
from commonhold.domain.read_set import Overtaken
from commonhold.domain.refusal import Refusal
from commonhold.linking.findings import Links
from commonhold.linking.library import Library
from commonhold.linking.summary import Summary
from commonhold.regions.region import Region, RegionMap
from commonhold.semantics.admission import Findings


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """A wish of `holder` that the changeset take effect; a dry run only asks for the verdict."""

    holder: str
    changeset: Changeset
    worktree: str
    is_dry_run: bool = False

    @property
    def request_id(self) -> str | None:
        """The id to repeat the request by; a dry run is asked anew each time."""
        return None if self.is_dry_run else self.changeset.request_id


@dataclass(frozen=True, slots=True)
class Stale:
    """Something that is not what an edit started from: `region` is what is there now, None if it is gone.

    `asked` is the key as the changeset has it, `base` the hash that it gives (None: it said nothing, or that nothing
    is there), `span` the span of a header that it names.
    """

    asked: str
    key: Key
    base: str | None
    source: RegionMap | None
    region: Region | None
    span: int | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """The edits cannot be applied to what is there, nor be merged with it.

    `keys` are what it is about, `seen` is as in a plan.
    """

    code: Refusal
    why: str
    keys: tuple[Key, ...]
    stale: tuple[Stale, ...] = ()
    unmerged: tuple[Unmerged, ...] = ()
    seen: Mapping[str, Stamp | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Admission:
    """What admission found in a file (in all others, for the empty path), and the regions that the changeset mends."""

    path: str
    findings: Findings
    mended: frozenset[Key]


@dataclass(frozen=True, slots=True)
class Crossed:
    """What was found, and in which state of the repository; `admission` is None where nothing concerns anybody.

    `is_linked`: other files can have to do with the change, so they were examined. `library` is the state that they
    were in then; `before` and `files` are the files that become other, as they were and as they will be. A plan that
    comes from a worker process has none of the three: `origin` names that process and its plan, which it remembers for
    a while. `has_asked`: a type checker, or tests, which takes long. `drafted` are the regions that the change writes,
    each with its hash before and after. `is_put_off`: the other files are not read yet, so nothing was found.
    """

    is_linked: bool = False
    is_put_off: bool = False
    library: Library | None = None
    before: Mapping[str, Summary | None] = field(default_factory=dict)
    files: Mapping[str, Summary | None] = field(default_factory=dict)
    links: Links = field(default_factory=Links)
    admission: Admission | None = None
    has_asked: bool = False
    drafted: frozenset[RegionChange] = frozenset()
    origin: tuple[int, int] | None = None

    def without_files(self, origin: tuple[int, int] | None = None) -> "Crossed":
        """What another process needs to know of it."""
        return replace(self, library=None, before={}, files={}, origin=origin)


@dataclass(frozen=True, slots=True)
class Outdated:
    """New text relies on what its author has read and others have changed since: what it was, is, and what to do."""

    code: Refusal
    why: str
    stale: tuple[Stale, ...]
    next: Next


@dataclass(frozen=True, slots=True)
class Relied:
    """Whether new text is `outdated`, judged by what its author had still to read again (`unread`)."""

    unread: tuple[Overtaken, ...] = ()
    outdated: Outdated | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a commit writes and records, worked out before the gate.

    `seen` maps every path that was looked at to what it was then (None: not there); the plan holds only
    while that is so. `writes_to` are the keys that must be free of other holders' leases, `moves` the new paths of
    renamed files by their old ones. `merged` is told to the committer, `merges` and `contracts` are recorded.
    `grown` are headers that only get more lines: others may hold what lies beside them. `reweighed` are debts, and
    what is left of each once this is written: itself, maybe for another reason, or nothing. `relied` is what was found
    of the reads that it rests on; None where nobody has looked yet. `newest` is the number of the newest event that was
    recorded when planning began.
    """

    seen: Mapping[str, Stamp | None]
    writes: tuple[Write, ...]
    contents: Mapping[str, bytes]
    writes_to: tuple[Key, ...]
    regions: tuple[RegionHash, ...]
    changes: tuple[RegionChange, ...]
    admissions: tuple[Admission, ...]
    notices: tuple[str, ...] = ()
    moves: Mapping[str, str] = field(default_factory=dict)
    merged: tuple[MergedRegion, ...] = ()
    merges: tuple[Merge, ...] = ()
    crossed: Crossed = field(default_factory=Crossed)
    contracts: tuple[ContractChange, ...] = ()
    grown: frozenset[Key] = frozenset()
    reweighed: Mapping[Debt, Debt | None] = field(default_factory=dict)
    relied: Relied | None = None
    newest: int = 0

    @property
    def rewritten(self) -> frozenset[str]:
        """The keys of the regions that are there before and after, with another text."""
        return frozenset(each.key for each in self.changes if each.before is not None and each.after is not None)

    def moved(self, text: str) -> str:
        """The key that a key has after the renames of this plan."""
        key = canonical(text)
        target = self.moves.get(key.file_path)
        return text if target is None else str(key.at(target))
