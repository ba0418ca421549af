"""What is noted while a merge is made: who changed what alone, and what was joined."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from commonhold.merging.layout import Element
from commonhold.merging.verdict import Spot

Scope = tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """What one side alone did: `old` gave way to `new` (None: nothing), inside the definitions `scope` of the base.

    `is_head` says that only what stands before the body counts; the body was looked into.
    """

    old: Element | None
    new: Element | None
    scope: Scope
    is_head: bool = False


@dataclass(slots=True)
class Record:
    """`ours` and `theirs` are what either side changed alone; `scope` holds the definitions that are being merged.

    `shifted` are functions to which both sides added a parameter that may be given by its place; `doubts` are what else
    speaks against a text that could be put together.
    """

    ours: list[Edit] = field(default_factory=list)
    theirs: list[Edit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shifted: list[Scope] = field(default_factory=list)
    doubts: list[Spot] = field(default_factory=list)
    scope: Scope = ()

    def within(self, element: Element) -> "Record":
        """The same record, from inside a definition."""
        return replace(self, scope=(*self.scope, element))

    def without_edits(self) -> "Record":
        """The same record, for what is noted as a whole elsewhere."""
        return replace(self, ours=[], theirs=[])

    def replaced(self, edits: list[Edit], old: Iterable[Element], new: Iterable[Element]) -> None:
        """Note in `edits` that elements gave way to others."""
        edits.extend(Edit(each, None, self.scope) for each in old)
        edits.extend(Edit(None, each, self.scope) for each in new)
