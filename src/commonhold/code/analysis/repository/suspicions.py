"""Suspicions by name only: uses of unknown objects under the name of a changed definition."""

from dataclasses import replace
from typing import Final

from commonhold.code.analysis.effects import Impact, call_text, is_wholly_new, met
from commonhold.code.analysis.impact import COMMON_ATTRIBUTES
from commonhold.code.analysis.interface import CallableInterface, bind
from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.references import CALL_FAILS, NAME_FAILS, Receiver, Reference, Use
from commonhold.code.analysis.repository.call_signatures import how_used
from commonhold.code.analysis.repository.changes import ContractChange
from commonhold.code.analysis.repository.linkage import Linkage

_TYPES_ONLY: Final = frozenset({Use.ANNOTATION, Use.EXPORT})
_ELSEWHERE: Final = frozenset({Receiver.NONE, Receiver.OUTSIDE})


def suspected(change: ContractChange, use: Reference, linkage: Linkage, *, is_own: bool) -> Impact | None:
    """Return the effect on an unresolved use, if it meant the changed definition; None if that is unlikely.

    Names that every list, dict or text has are not suspected, unless the object `is_own`: the repository's own code
    returned it.
    """
    if use.name != change.name or use.use in _TYPES_ONLY or use.receiver is Receiver.OUTSIDE:
        return None
    if change.name in COMMON_ATTRIBUTES and not is_own:
        return None
    if use.use is Use.TEXT:
        return Impact("names it in a string") if change.after is None and not change.name.startswith("__") else None
    if use.receiver in _ELSEWHERE:
        return None
    if change.after is None:
        is_likely = use.shape is not None or change.before.owner
        return Impact(f"still {how_used(use)}") if is_likely and NAME_FAILS not in use.expects else None
    is_function = change.before.sort is Sort.FUNCTION and change.after.sort is Sort.FUNCTION
    seen = use if linkage.writes_receiver else replace(use, receiver=Receiver.NONE)
    return _of_call(change.before.signatures, change.after.signatures, seen) if is_function else None


def _of_call(
    before: tuple[CallableInterface, ...], after: tuple[CallableInterface, ...], use: Reference
) -> Impact | None:
    """Return the effect on a call that fitted, and no longer does, or has another result."""
    if use.shape is None or not _fits(before, use):
        return None
    if is_wholly_new(before[-1], after[-1]):
        return Impact(f"calls `{call_text(use)}`")
    if _fits(after, use) or CALL_FAILS in use.expects:
        return None
    return Impact(f"calls `{call_text(use)}`, which would no longer bind")


def _fits(signatures: tuple[CallableInterface, ...], use: Reference) -> bool:
    return use.shape is not None and any(bind(use.shape, met(each, use)) for each in signatures)
