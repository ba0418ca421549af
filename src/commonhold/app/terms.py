"""The types in the signatures of the service, each loaded at its first use: a command makes few calls.

So a caller of `typing.get_type_hints` finds them, and other callers do not wait for them.
"""
# ruff: noqa: PLC0414 - type checkers treat an import as a re-export only if it is named twice

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from commonhold.app.acquire_options import AcquireOptions as AcquireOptions
    from commonhold.app.answers import AcquireAnswer as AcquireAnswer
    from commonhold.app.answers import AdoptAnswer as AdoptAnswer
    from commonhold.app.answers import CommitAnswer as CommitAnswer
    from commonhold.app.answers import LeaseAnswer as LeaseAnswer
    from commonhold.app.answers import News as News
    from commonhold.app.answers import PutAnswer as PutAnswer
    from commonhold.app.answers import RegionHash as RegionHash
    from commonhold.app.answers import RegionText as RegionText
    from commonhold.app.answers import ReviewAnswer as ReviewAnswer
    from commonhold.app.answers import TakeAnswer as TakeAnswer
    from commonhold.app.answers import WaiveAnswer as WaiveAnswer
    from commonhold.app.pictures import Briefing as Briefing
    from commonhold.app.pictures import Status as Status
    from commonhold.app.pictures import Who as Who
    from commonhold.app.region_list import RegionList as RegionList
    from commonhold.domain.changeset import Changeset as Changeset
    from commonhold.domain.events import CommitUndone as CommitUndone
    from commonhold.domain.events import Recorded as Recorded
    from commonhold.domain.lease import Lease as Lease
    from commonhold.domain.partial_work import PartialWork as PartialWork
    from commonhold.domain.value import Value as Value
    from commonhold.domain.value import Version as Version
    from commonhold.regions.region import RegionMap as RegionMap

_HOMES: Final = {
    "commonhold.app.acquire_options": "AcquireOptions",
    "commonhold.app.answers": "AcquireAnswer AdoptAnswer CommitAnswer LeaseAnswer News PutAnswer RegionHash RegionText"
    " ReviewAnswer TakeAnswer WaiveAnswer",
    "commonhold.app.pictures": "Briefing Status Who",
    "commonhold.app.region_list": "RegionList",
    "commonhold.domain.changeset": "Changeset",
    "commonhold.domain.events": "CommitUndone Recorded",
    "commonhold.domain.lease": "Lease",
    "commonhold.domain.partial_work": "PartialWork",
    "commonhold.domain.value": "Value Version",
    "commonhold.regions.region": "RegionMap",
}
_HOME_OF: Final = {name: module for module, names in _HOMES.items() for name in names.split()}

# Hidden from type checkers: with this in view they would accept any name as a type.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Return a type, loaded now."""
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(_HOME_OF[name]), name)
        return found
