"""What an examination of a whole repository found."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from commonhold.semantics.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Concern:
    """A place that a change concerns. `is_broken`: it provably fails as it now stands.

    `path` and `line` are where, in the state after; `target_path` and `target` (a qualified name) what it is about.
    `what` says what changed, as a clause, empty where it is the place itself that is new; `how`, as a verb phrase, how
    the place uses it. `is_open`: who is concerned is out of sight, and the place is that of the change.
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
        """The reason in words; `subject` is what people call the region at the place."""
        return f"{self.what}, and {subject} {self.how}" if self.what else f"{subject} {self.how}"


IsEdited = Callable[[str, int], bool]
"""Whether a line (from 1) of the file at a path, in the state after, lies in a region that the change writes itself."""


@dataclass(frozen=True, slots=True)
class Links:
    """What an examination found: concerns in no particular order, and notices."""

    concerns: tuple[Concern, ...] = ()
    notices: tuple[str, ...] = ()

    def beside(self, is_edited: IsEdited) -> "Links":
        """Less what the change itself writes: who edits a place has seen it, unless it provably fails as it stands."""
        kept = (each for each in self.concerns if each.is_broken or each.is_open or not is_edited(each.path, each.line))
        return replace(self, concerns=tuple(kept))
