"""What is noted while a merge is made: who changed what alone, and what was joined."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from commonhold.merging.layout import Element
from commonhold.merging.ordering import renumbered
from commonhold.merging.verdict import Reason, Spot

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

    `shifted` are functions to which both sides added a parameter that may be given by its place, and that place;
    `counts` are numbers that both changed alike, `grown` what both added to: a count holds for what one side added,
    not for both. `doubts` are what else speaks against a text that could be put together.
    """

    ours: list[Edit] = field(default_factory=list)
    theirs: list[Edit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shifted: list[tuple[Scope, int]] = field(default_factory=list)
    doubts: list[Spot] = field(default_factory=list)
    counts: list[Spot] = field(default_factory=list)
    grown: list[Element] = field(default_factory=list)
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

    def changed_alike(self, base: Element, ours: Element, theirs: Element) -> None:
        """Note what both sides changed in the same way, if it is but a number."""
        if renumbered(base.text, ours.text):
            why = f"both sides changed a number in one {base.words} alike, and it may count what each of them added"
            self.counts.append(Spot(Reason.ORDER_MATTERS, why, base.rows, ours.rows, theirs.rows))
