"""The results of planning: a plan, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from commonhold.code.analysis.admission import Findings
from commonhold.code.analysis.repository.findings import Links
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.summary import Summary
from commonhold.kernel.answers import MergedRegion, Next, RegionHash, Unmerged
from commonhold.kernel.changeset import Changeset
from commonhold.kernel.events import ContractChange, Merge, RegionChange
from commonhold.kernel.files import Stamp, Write
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.obligations import Debt
from commonhold.kernel.read_set import StaleRead
from commonhold.kernel.refusals import Refusal
from commonhold.reads.stale_base import Stale


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """A request of `holder` to apply the changeset; a dry run only asks for the verdict.

    `undoes` are the numbers of the commits that it takes back. They follow from the changeset, so they are left out of
    the text by which a repeated request is recognised.
    """

    holder: str
    changeset: Changeset
    worktree: str
    is_dry_run: bool = False
    undoes: tuple[int, ...] = field(default=(), repr=False)

    @property
    def request_id(self) -> str | None:
        """Return the id to repeat the request by; a dry run is evaluated again each time."""
        return None if self.is_dry_run else self.changeset.request_id


@dataclass(frozen=True, slots=True)
class Rejected:
    """The edits cannot be applied to the present files, nor merged with them.

    `keys` are the keys concerned, `seen` is as in a plan.
    """

    code: Refusal
    why: str
    keys: tuple[Key, ...]
    stale: tuple[Stale, ...] = ()
    unmerged: tuple[Unmerged, ...] = ()
    seen: Mapping[str, Stamp | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Admission:
    """The findings of admission in a file (in all others, for the empty path), and the regions that it repairs."""

    path: str
    findings: Findings
    mended: frozenset[Key]


@dataclass(frozen=True, slots=True)
class CrossFileEffects:
    """The findings in other files, and the state of the repository they hold for; `admission` is None without findings.

    `is_linked`: other files may depend on the change, so they were examined. `library` is their state at that time;
    `before` and `files` are the files that change, before and after. A plan from a worker process has none of the
    three: `origin` names that process and its plan, which it remembers for a while. `has_asked`: a type checker or
    tests were run, which takes long. `drafted` are the regions that the change writes, each with its hash before and
    after. `is_put_off`: the other files are not read yet, so they were not examined.
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

    def without_files(self, origin: tuple[int, int] | None = None) -> "CrossFileEffects":
        """Return the part that another process needs."""
        return replace(self, library=None, before={}, files={}, origin=origin)


@dataclass(frozen=True, slots=True)
class Outdated:
    """New text relies on a stale read: the reason, the earlier and present state, and the next call."""

    code: Refusal
    why: str
    stale: tuple[Stale, ...]
    next: Next


@dataclass(frozen=True, slots=True)
class Relied:
    """Whether new text is `outdated`, judged by the reads of its author that were stale at that time (`unread`)."""

    unread: tuple[StaleRead, ...] = ()
    outdated: Outdated | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a commit writes and records, computed before the gate.

    `seen` maps every path that was read to its stamp at that time (None: absent); the plan is valid only while these
    stamps hold. `writes_to` are the keys that must be free of other holders' leases, `moves` the new paths of renamed
    files by their old ones. `merged` is reported to the committer, `merges` and `contracts` are recorded. `grown` are
    headers that only get more lines: others may hold the regions beside them. `reweighed` maps debts to the remainder
    of each once this is written: the same debt, perhaps for another reason, or nothing. `relied` is the result about
    the reads that it relies on; None if not examined yet. `newest` is the number of the newest event when planning
    began.
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
    crossed: CrossFileEffects = field(default_factory=CrossFileEffects)
    contracts: tuple[ContractChange, ...] = ()
    grown: frozenset[Key] = frozenset()
    reweighed: Mapping[Debt, Debt | None] = field(default_factory=dict)
    relied: Relied | None = None
    newest: int = 0

    @property
    def rewritten(self) -> frozenset[str]:
        """Return the keys of the regions that exist before and after, with different texts."""
        return frozenset(each.key for each in self.changes if each.before is not None and each.after is not None)

    def moved(self, text: str) -> str:
        """Return the new form of a key after the renames of this plan."""
        key = canonical(text)
        target = self.moves.get(key.file_path)
        return text if target is None else str(key.at(target))
