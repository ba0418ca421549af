"""What an examination of a whole repository found."""

from dataclasses import dataclass

from commonhold.semantics.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Concern:
    """A place that a change concerns. `is_broken`: it provably fails as it now stands.

    `path` and `line` are where, in the state after; `target_path` and `target` what was changed (a qualified name);
    `why` is a clause for people: what changed, and how it is used there.
    """

    path: str
    line: int
    why: str
    evidence: Evidence
    target_path: str
    target: str
    is_broken: bool = False


@dataclass(frozen=True, slots=True)
class Links:
    """What an examination found: concerns in no particular order, and notices."""

    concerns: tuple[Concern, ...] = ()
    notices: tuple[str, ...] = ()
