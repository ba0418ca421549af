"""Methods that Python itself calls with a fixed number of arguments: one that cannot take them is broken by itself."""

from collections.abc import Iterable, Iterator
from typing import Final

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.interface import CallShape, bind
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.resolution import is_property
from commonhold.code.analysis.repository.states import States, Subject
from commonhold.code.analysis.repository.summary import Offer

_NAMES: Final = {
    0: (
        "enter aenter len iter next aiter anext str repr bool hash bytes int float index neg pos invert abs reversed "
        "await dir fspath complex"
    ),
    1: (
        "eq ne lt le gt ge add sub mul matmul truediv floordiv mod lshift rshift and xor or radd rsub rmul rmatmul "
        "rtruediv rfloordiv rmod rlshift rrshift rand rxor ror iadd isub imul imatmul itruediv ifloordiv imod ilshift "
        "irshift iand ixor ior getitem delitem contains getattr getattribute delattr format missing delete "
        "instancecheck subclasscheck"
    ),
    2: "setitem setattr get set set_name",
    3: "exit aexit",
}
_ARGUMENTS: Final = {f"__{name}__": count for count, names in _NAMES.items() for name in names.split()}


def misfitting(states: States, subjects: Iterable[Subject]) -> Iterator[Concern]:
    """Yield the changed methods that no longer fit Python's own calls."""
    for subject in subjects:
        before, after = subject.change.before, subject.change.after
        summary = states.new.library.summary(subject.path)
        if after is None or summary is None or summary.language != "python" or after.sort is not Sort.FUNCTION:
            continue
        given = _given(after) if subject.change.qualname in summary.offered else None
        if given is not None and _takes(before, given) and not _takes(after, given):
            how = f"takes {after.signatures[-1]}, but Python gives it {_number(given)}"
            place = subject.path, after.line
            yield Concern(*place, subject.change.what, how, Evidence.CONTRACT, *subject.place, is_broken=True)


def _given(offer: Offer) -> int | None:
    """Return how many arguments Python passes to a method, besides the object; None if it does not call it."""
    if not offer.owner or not offer.signatures:
        return None
    return 0 if is_property(offer) else _ARGUMENTS.get(offer.name)


def _takes(offer: Offer, count: int) -> bool:
    signatures = offer.signatures if offer.sort is Sort.FUNCTION else ()
    return any(bind(CallShape(count), each.without_first().params) for each in signatures if _has_self(each.decorators))


def _has_self(decorators: Iterable[str]) -> bool:
    return not any(text.endswith("staticmethod") for text in decorators)


def _number(count: int) -> str:
    return {0: "nothing", 1: "1 argument"}.get(count, f"{count} arguments")
