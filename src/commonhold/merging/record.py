"""The notes taken during a merge: the changes of each side alone, and the joined ones."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from commonhold.merging.layout import Element
from commonhold.merging.order_sensitivity import renumbered
from commonhold.merging.verdict import Reason, Spot

Scope = tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one side alone: it replaced `old` by `new` (None: nothing), inside definitions (`scope`) of the base.

    `is_head` says that only the part before the body counts; the body is merged separately.
    """

    old: Element | None
    new: Element | None
    scope: Scope
    is_head: bool = False


@dataclass(slots=True)
class Record:
    """`ours` and `theirs` are the changes of either side alone; `scope` holds the definitions that are being merged.

    `shifted` are functions to which both sides added a parameter that may be passed by position, with that position;
    `counts` are numbers that both changed alike, `grown` the elements that both added to: a count includes the
    additions of one side, not of both. `doubts` are further objections to a text that could be joined.
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
        """Return the same record, for the inside of a definition."""
        return replace(self, scope=(*self.scope, element))

    def without_edits(self) -> "Record":
        """Return the same record without its edits, for parts that are recorded as a whole elsewhere."""
        return replace(self, ours=[], theirs=[])

    def replaced(self, edits: list[Edit], old: Iterable[Element], new: Iterable[Element]) -> None:
        """Record in `edits` that some elements were replaced by others."""
        edits.extend(Edit(each, None, self.scope) for each in old)
        edits.extend(Edit(None, each, self.scope) for each in new)

    def changed_alike(self, base: Element, ours: Element, theirs: Element) -> None:
        """Record a change that both sides made alike, if it concerns a single number."""
        if renumbered(base.text, ours.text):
            why = f"both sides changed a number in one {base.words} alike, and it may count what each of them added"
            self.counts.append(Spot(Reason.ORDER_MATTERS, why, base.rows, ours.rows, theirs.rows))
