"""The result of an examination of a whole repository."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from commonhold.code.analysis.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Concern:
    """A place that a change affects. `is_broken`: it provably fails as it now stands.

    `path` and `line` are the place, in the state after; `target_path` and `target` (a qualified name) the definition
    that it uses. `what` says what changed, as a clause, empty if the place itself is new; `how`, as a verb phrase, how
    the place uses it. `is_open`: the affected users are not visible, and the place is that of the change.
    """

    path: str
    line: int
    what: str
    how: str
    evidence: Evidence
    target_path: str
    target: str
    is_broken: bool = False
    is_open: bool = False

    def why(self, subject: str) -> str:
        """Return the reason in words; `subject` is the name of the region at the place, for people."""
        return f"{self.what}, and {subject} {self.how}" if self.what else f"{subject} {self.how}"


IsEdited = Callable[[str, int], bool]
"""Whether a line (from 1) of the file at a path, in the state after, lies in a region that the change writes itself."""


@dataclass(frozen=True, slots=True)
class Links:
    """The results of an examination: concerns in no particular order, and notices."""

    concerns: tuple[Concern, ...] = ()
    notices: tuple[str, ...] = ()

    def beside(self, is_edited: IsEdited) -> "Links":
        """Return the links without those in edited regions: their author has seen these, unless one provably fails."""
        kept = (each for each in self.concerns if each.is_broken or each.is_open or not is_edited(each.path, each.line))
        return replace(self, concerns=tuple(kept))
