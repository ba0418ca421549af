"""Concurrency control for AI coding agents: leases on regions, validated commits, nothing lost.

`commonhold.open(".", agent="agent-1")` gives a `Commonhold`: read regions, then commit a `Changeset` of `Edit`s with
the hashes that were read, or `acquire` a lease first. README.md shows it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonhold.app.answers import (
        AcquireAnswer,
        CommitAnswer,
        LeaseAnswer,
        Needed,
        Next,
        RegionHash,
        Repair,
        RepairRegion,
    )
    from commonhold.app.queries import Change, Status, Who
    from commonhold.app.reading import Piece, RegionText
    from commonhold.app.service import Commonhold
    from commonhold.bootstrap import open_repository as open  # noqa: A004 - `commonhold.open` reads like `gzip.open`
    from commonhold.domain.changeset import Changeset, Edit, LeaseRef, Op, Read
    from commonhold.domain.clock import Deadline
    from commonhold.domain.errors import Code, CommonholdError, InputError, InternalError, StoreError, UsageError
    from commonhold.domain.events import (
        CommitRefused,
        Committed,
        CommitUndone,
        Debt,
        Event,
        FileChange,
        LeaseDenied,
        LeaseExpired,
        LeaseGranted,
        LeaseReleased,
        LeaseRenewed,
        Recorded,
        RegionChange,
    )
    from commonhold.domain.keys import Key, Kind, Name, overlaps
    from commonhold.domain.lease import Conflict, Lease
    from commonhold.domain.modes import Mode
    from commonhold.domain.refusal import Refusal
    from commonhold.regions.discover import discover
    from commonhold.regions.region import Problem, Region, RegionMap

__all__ = [
    "AcquireAnswer",
    "Change",
    "Changeset",
    "Code",
    "CommitAnswer",
    "CommitRefused",
    "CommitUndone",
    "Committed",
    "Commonhold",
    "CommonholdError",
    "Conflict",
    "Deadline",
    "Debt",
    "Edit",
    "Event",
    "FileChange",
    "InputError",
    "InternalError",
    "Key",
    "Kind",
    "Lease",
    "LeaseAnswer",
    "LeaseDenied",
    "LeaseExpired",
    "LeaseGranted",
    "LeaseRef",
    "LeaseReleased",
    "LeaseRenewed",
    "Mode",
    "Name",
    "Needed",
    "Next",
    "Op",
    "Piece",
    "Problem",
    "Read",
    "Recorded",
    "Refusal",
    "Region",
    "RegionChange",
    "RegionHash",
    "RegionMap",
    "RegionText",
    "Repair",
    "RepairRegion",
    "Status",
    "StoreError",
    "UsageError",
    "Who",
    "discover",
    "open",
    "overlaps",
]
__version__ = "0.1.0"

# Where each name lives. All are loaded on first use: the command line and the hooks must start in milliseconds.
_HOMES = {
    "commonhold.app.answers": "AcquireAnswer CommitAnswer LeaseAnswer Needed Next RegionHash Repair RepairRegion",
    "commonhold.app.queries": "Change Status Who",
    "commonhold.app.reading": "Piece RegionText",
    "commonhold.app.service": "Commonhold",
    "commonhold.bootstrap": "open",
    "commonhold.domain.changeset": "Changeset Edit LeaseRef Op Read",
    "commonhold.domain.clock": "Deadline",
    "commonhold.domain.errors": "Code CommonholdError InputError InternalError StoreError UsageError",
    "commonhold.domain.events": "CommitRefused Committed CommitUndone Debt Event FileChange"
    " LeaseDenied LeaseExpired LeaseGranted LeaseReleased LeaseRenewed Recorded RegionChange",
    "commonhold.domain.keys": "Key Kind Name overlaps",
    "commonhold.domain.lease": "Conflict Lease",
    "commonhold.domain.modes": "Mode",
    "commonhold.domain.refusal": "Refusal",
    "commonhold.regions.discover": "discover",
    "commonhold.regions.region": "Problem Region RegionMap",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


# A checker that saw this would take any name for a public one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """A public name, loaded on first use."""
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value: object = getattr(import_module(_HOME_OF[name]), "open_repository" if name == "open" else name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
