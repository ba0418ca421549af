"""Overrides, in other files, of a method whose signature changed."""

from collections.abc import Iterator

from commonhold.code.analysis.effects import is_wholly_new
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.interface import CallableInterface, widens
from commonhold.code.analysis.module_definitions import CONSTRUCTORS, Sort
from commonhold.code.analysis.repository.call_signatures import numbered
from commonhold.code.analysis.repository.changes import ContractChange, erased
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.states import States, Subject, member_of
from commonhold.code.analysis.repository.summary import Offer
from commonhold.code.analysis.repository.symbols import Place

_HOW = "overrides it with other parameters"


def overrides(states: States, subject: Subject) -> Iterator[Concern]:
    """Yield the overrides that accepted all arguments of the base's callers, and no longer do.

    A base that only came to accept more keeps its callers. Constructors and name-mangled methods are no contract
    between a class and its subclasses.
    """
    change = subject.change
    if subject.owner is None or not _is_contract(change):
        return
    for heir in states.new.lineage.heirs(subject.owner):
        own = member_of(states.new, heir, change.name)
        if own is not None and not _is_left_to_admission(states, subject, heir) and _no_longer_fits(change, own):
            yield Concern(heir[0], own.line, change.what, _HOW, Evidence.CONTRACT, *subject.place)


def _is_left_to_admission(states: States, subject: Subject, heir: Place) -> bool:
    """Whether `code.analysis.admission` checks the override, which lies in the edited file."""
    summary = states.new.library.summary(subject.path)
    is_left = heir[0] == subject.path and not states.is_throughout
    return is_left and summary is not None and summary.language == "python"


def _is_contract(change: ContractChange) -> bool:
    is_mangled = change.name.startswith("__") and not change.name.endswith("__")
    are_functions = change.after is not None and {change.before.sort, change.after.sort} == {Sort.FUNCTION}
    return are_functions and not is_mangled and change.name not in CONSTRUCTORS


def _no_longer_fits(change: ContractChange, own: Offer) -> bool:
    if not own.signatures or change.after is None or erased(own) == erased(change.after):
        return False
    old, new, mine = (numbered(each.signatures[-1]) for each in (change.before, change.after, own))
    return _fits(old, mine) and not _fits(new, mine) and not _fits(old, new)


def _fits(base: CallableInterface, override: CallableInterface) -> bool:
    """Whether every call that fits the base fits the override."""
    return widens(base.params, override.params) and not is_wholly_new(base, override)
