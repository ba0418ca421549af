"""Concurrency control for AI coding agents: leases on regions, validated commits, nothing lost.

    import commonhold

    with commonhold.open(".", agent="agent-1") as hold:
        region, = hold.read("src/prices.py#total")
        answer = hold.commit(commonhold.Changeset(
            intent="round to cents",
            edits=(commonhold.Edit(op=commonhold.Op.REPLACE, key=region.key, base=region.hash, text="..."),),
        ))
        print(answer.outcome)
"""

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
from commonhold.domain.changeset import Changeset, Edit, LeaseRef, Op, Read, Refusal
from commonhold.domain.errors import Code, CommonholdError, InputError, InternalError, StoreError, UsageError
from commonhold.domain.events import Event, Recorded
from commonhold.domain.keys import Key, Kind, Name, overlaps
from commonhold.domain.lease import Conflict, Lease
from commonhold.domain.modes import Mode
from commonhold.regions.discover import discover
from commonhold.regions.region import Problem, Region, RegionMap

__all__ = [
    "AcquireAnswer",
    "Change",
    "Changeset",
    "Code",
    "CommitAnswer",
    "CommonholdError",
    "Commonhold",
    "Conflict",
    "Edit",
    "Event",
    "InputError",
    "InternalError",
    "Key",
    "Kind",
    "Lease",
    "LeaseAnswer",
    "LeaseRef",
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
