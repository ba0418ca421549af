"""Whether the additions of both sides at one point may stand there together, and in which order."""

from collections.abc import Sequence

from commonhold.merging.alternatives import are_distinct_branches, counts_members
from commonhold.merging.commutation import Refusal, gives_value, why_order_shows
from commonhold.merging.layout import DECORATORS, Element, Shape
from commonhold.merging.order_sensitivity import is_sequence, take_one_number
from commonhold.merging.profile import Order
from commonhold.merging.verdict import Reason

_ARRAY_TABLE = "table_array_element"
_ELEMENT = "jsx_element"

Run = Sequence[Element]


def why_not_both(holder: Element, mine: Run, others: Run, shared: Run, before: Run = ()) -> Refusal | None:
    """Return why two runs of new elements cannot both stand in `holder`, after `before`; `shared` are in both."""
    names = {each.name for each in mine if each.name} & {each.name for each in others if each.name}
    if names:
        name = min(names).decode(errors="replace")
        return Reason.SAME_NAME, f"both sides added {name!r}, each in its own way"
    is_same_set = not mine and not others and is_free(holder, shared)
    if not is_same_set and not all(_counts_once(each, holder) for each in shared):
        return Reason.ORDER_MATTERS, "both sides added some of the same lines at one point, among others"
    if take_one_number(before, mine, others):
        return Reason.ORDER_MATTERS, "both sides took the number that comes next, each for its own"
    return _why_not_in(holder, mine, others, before) if mine and others else None


def _why_not_in(holder: Element, mine: Run, others: Run, before: Run) -> Refusal | None:
    if holder.shape is Shape.LIST:
        return _why_not_listed(holder, mine, others)
    if holder.list_kind == DECORATORS:
        return Reason.ORDER_MATTERS, "both sides added a decorator at one point, and their order may matter"
    if holder.shape is Shape.PARTS:
        return Reason.BOTH_CHANGED, f"both sides added a part to one {holder.words}"
    if holder.list_kind == _ELEMENT:
        return Reason.ORDER_MATTERS, "both sides added to one element of a page at one point, and their order is seen"
    if is_sequence(holder, (*mine, *others)) or _repeat_a_table(mine, others):
        return Reason.ORDER_MATTERS, "both sides added a step to one sequence at one point"
    return _why_order_matters(holder, mine, others, before)


def _repeat_a_table(mine: Run, others: Run) -> bool:
    """Whether both sides added a table to one array of tables."""
    arrays = [{each.children[1].text for each in run if each.node.type == _ARRAY_TABLE} for run in (mine, others)]
    return bool(arrays[0] & arrays[1])


def in_one_order(holder: Element, first: Run, second: Run) -> list[Element]:
    """Put both in one order: imports and positional ones first, sections and keyword-only ones last.

    Imports of both are sorted by their text.
    """
    has_commas = any(run[-1].text.endswith(b",") for run in (first, second))
    runs = sorted((first, second), key=lambda run: (_place(holder, run), has_commas and run[-1].text[-1:] != b","))
    if all(_is_import(each, holder) for run in runs for each in run):
        runs = sorted(runs, key=lambda run: [each.text for each in run])
    return [each for run in runs for each in run]


def _is_import(element: Element, holder: Element) -> bool:
    return element.node.type in holder.profile.imports or holder.list_kind in holder.profile.imports


def hangs_on_its_place(element: Element) -> bool:
    """Whether its position among others matters: not for documentation, imports and definitions."""
    return not (element.is_prose or element.is_definition or element.node.type in element.profile.imports)


def may_be_placed(holder: Element, run: Run) -> bool:
    """Whether a run of new parameters holds one that a call may pass by position."""
    if holder.list_kind not in holder.profile.parameters:
        return False
    marks = holder.profile.keyword_only_marks
    before = (each for each in holder.children if run and each.start < run[0].start)
    is_by_name = any(each.node.type in marks for each in before) or not run or run[0].node.type in marks
    return not is_by_name


def _place(holder: Element, run: Run) -> int:
    if holder.shape is not Shape.LIST:
        if all(_is_import(each, holder) for each in run):
            return 0  # in some languages nothing may stand before an import
        return 1 + any(each.node.type in holder.profile.sections for each in run)  # it would contain all that follows
    has_no_place = any(each.node.type in holder.profile.keyword_only_marks for each in run)
    return 2 if has_no_place else int(all(map(_is_optional, run)))


def _is_optional(element: Element) -> bool:
    """Whether an entry of a list may be left out, so that no other entry depends on its position."""
    return element.node.type in element.profile.optional_entries


def _counts_once(element: Element, holder: Element) -> bool:
    """Whether it makes no difference to have it once or twice."""
    if holder.shape is Shape.LIST:
        is_mark = element.node.type in holder.profile.keyword_only_marks
        return is_mark or holder.list_kind in holder.profile.runs or element.name is not None
    return element.node.type in holder.profile.imports or element.name is not None


def _why_not_listed(holder: Element, mine: Run, others: Run) -> Refusal | None:
    imported = Order.FREE if holder.list_kind in holder.profile.imports else Order.FIXED
    order = holder.profile.lists.get(holder.list_kind, imported)
    is_optional = all(map(_is_optional, (*mine, *others)))
    is_spread = any(each.node.type in holder.profile.spreads for each in (*mine, *others))
    is_counted = is_sequence(holder, (*mine, *others)) or counts_members(holder, (*mine, *others))
    if (order is Order.FREE and not is_spread and not is_counted) or (order is Order.NAMED and is_optional):
        return None
    return Reason.ORDER_MATTERS, f"both sides added entries to one {holder.words}, where order counts"


def _is_run_alone(element: Element) -> bool:
    """Whether an import of JavaScript gives no name, so that the module is there for its effects."""
    node = element.node
    return node.type == "import_statement" and len(node.named_children) == 1 and node.named_children[0].type == "string"


def is_free(holder: Element, entries: Run) -> bool:
    """Whether the order of these entries of a list cannot be observed."""
    order = holder.profile.lists.get(holder.list_kind)
    return order is Order.FREE and not is_sequence(holder, entries)


def _why_order_matters(holder: Element, mine: Run, others: Run, before: Run) -> Refusal | None:
    if all(any(map(_is_run_alone, run)) for run in (mine, others)):
        return Reason.ORDER_MATTERS, "both sides import a module for its effects at one point"
    if any(each.node.type in holder.profile.clauses for each in (*mine, *others)):
        if are_distinct_branches(mine, others):
            return None
        return Reason.ORDER_MATTERS, "both sides added a branch at one point"
    if any(each.is_prose for each in mine) and any(each.is_prose for each in others):
        return Reason.SAME_NAME, "both sides added a documentation text, each its own"
    if len(before) == len(holder.children) and gives_value(holder, mine[-1], others[-1]):
        return Reason.ORDER_MATTERS, "both sides added a last statement to one body, which gives the value of the body"
    return why_order_shows(holder, mine, others)
