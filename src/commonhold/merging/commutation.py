"""Whether two runs of new statements have the same effect in either order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commonhold.merging.effects import Effects, effects_of
from commonhold.merging.footprint import Footprint, footprint_of
from commonhold.merging.layout import Element
from commonhold.merging.reachable_variables import function_around, is_local, may_change, reached
from commonhold.merging.verdict import Reason

Refusal = tuple[Reason, str]


@dataclass(frozen=True, slots=True)
class _Run:
    """Statements that one side adds, and their effects."""

    effects: Effects
    footprint: Footprint

    @classmethod
    def of(cls, elements: Sequence[Element], holder: Element) -> "_Run":
        nodes = [each.node for each in elements]
        found = cls(effects_of(nodes, holder.profile), footprint_of(nodes, holder.profile))
        if holder.profile.node_effects.bare_names_call:
            names = found.footprint.reads - found.effects.defines
            found.footprint.does_anything |= any(_is_call(name, holder) for name in names)
        return found

    @property
    def uses_memory(self) -> bool:
        """Whether it reads or changes memory other than variables: fields or items."""
        return self.footprint.uses_fields or self.footprint.reads_items or self.footprint.changes_items


def _is_call(name: bytes, holder: Element) -> bool:
    """Whether a bare name calls a method, if the language has such calls: a lower-case name that is no local."""
    return (name[:1].islower() or name[:1] == b"_") and not is_local(name, holder)


def gives_value(holder: Element, *last: Element) -> bool:
    """Whether one of the statements that may come last in a function may give it its value."""
    without = holder.profile.node_effects.without_value
    function = function_around(holder.node, holder.profile)
    if without is None or function is None:
        return False
    named = function.child_by_field_name("name")
    is_constructor = named is not None and named.text == b"initialize"
    inert = holder.profile.node_effects.inert
    return not is_constructor and any(each.node.type not in without | inert for each in last)


def why_order_shows(holder: Element, mine: Sequence[Element], others: Sequence[Element]) -> Refusal | None:
    """Return why the order of `mine` and `others`, both new in `holder`, may be observed; None if it cannot."""
    one, other = _Run.of(mine, holder), _Run.of(others, holder)
    shared = _shared(one.effects, other.effects, holder)
    if shared:
        return Reason.INTERFERES, f"what both sides added at one point shares {_shown(shared)}"
    if one.footprint.leaves or other.footprint.leaves:
        return (
            Reason.ORDER_MATTERS,
            "the code that one side added may leave the block before the other side's code at the same point runs",
        )
    if _calls_meet(one.footprint, other.footprint):
        return Reason.ORDER_MATTERS, "both sides added calls at one point, and their order may matter"
    for calling, still in ((one, other), (other, one)):
        if calling.footprint.does_anything and (seen := _seen_by_a_call(still, holder)):
            why = f"one side added a call, which may change or use {seen} that the other added at the same point"
            return Reason.ORDER_MATTERS, why
    if _items_meet(one.footprint, other.footprint):
        return Reason.ORDER_MATTERS, "both sides added a use of an item at one point, and it may be the same one"
    return None


def _shared(one: Effects, other: Effects, holder: Element) -> frozenset[bytes]:
    shared = (one.defines & (other.defines | other.uses)) | (other.defines & one.uses)
    shared |= (one.touched & other.whole) | (other.touched & one.whole)
    if holder.profile.node_effects.has_outer_variables:
        shared |= _by_two_names(one, other, holder) | _by_two_names(other, one, holder)
    return shared


def _by_two_names(one: Effects, other: Effects, holder: Element) -> frozenset[bytes]:
    """Return the members that one side reaches as `this.name`, the other as `name`."""
    names = ((one.defines | one.uses) - {*one.calls}, one.defines)
    dotted = (other.defines, other.defines | other.uses)
    both = (name for plain, long in zip(names, dotted, strict=True) for name in plain if b"." + name in long)
    return frozenset(name for name in both if not is_local(name, holder))


def _calls_meet(one: Footprint, other: Footprint) -> bool:
    return any(
        first.does_anything and (second.does_anything or second.loads) for first, second in ((one, other), (other, one))
    )


def _items_meet(one: Footprint, other: Footprint) -> bool:
    return any(
        first.changes_items and (second.changes_items or second.reads_items)
        for first, second in ((one, other), (other, one))
    )


def _seen_by_a_call(run: _Run, holder: Element) -> str:
    """Return, in words, the variables and memory of some statements that a call may reach; empty if there are none."""
    if run.uses_memory:
        return "a field or an item"
    changed = [name for name in run.effects.defines if reached(name, holder)]
    read = [name for name in run.footprint.reads - run.effects.defines if may_change(name, holder)]
    return _shown({*changed, *read})


def _shown(names: Iterable[bytes]) -> str:
    return ", ".join(sorted(name.decode(errors="replace").lstrip(".") for name in names))
