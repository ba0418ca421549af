"""Concurrency control for AI coding agents: leases on regions, validated commits, nothing lost.

`commonhold.open(".", agent="agent-1")` returns a `Commonhold`: read regions, then commit a `Changeset` of `Edit`s with
the hashes that were read, or `hold` a lease for the length of a block. README.md shows it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonhold.client.async_connecting import connect_async
    from commonhold.client.async_opening import open_async
    from commonhold.client.async_session import AsyncCommonhold
    from commonhold.client.connecting import connect
    from commonhold.client.external_values import Resolver
    from commonhold.client.opening import open_session as open  # noqa: A004 - `commonhold.open` reads like `gzip.open`
    from commonhold.client.session import Commonhold, Held
    from commonhold.code.regions.discover import discover
    from commonhold.code.regions.region import Problem, Region, RegionMap
    from commonhold.kernel.answers import (
        AcquireAnswer,
        AdoptAnswer,
        CommitAnswer,
        LeaseAnswer,
        MergedRegion,
        News,
        Next,
        NoteQuote,
        Obstacle,
        Piece,
        PutAnswer,
        RegionHash,
        RegionText,
        Repair,
        RepairRegion,
        RequiredEdit,
        ReviewAnswer,
        Unmerged,
        WaiveAnswer,
    )
    from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op, Read
    from commonhold.kernel.clock import Deadline
    from commonhold.kernel.entry import (
        Entry,
        EntryAdded,
        EntryMove,
        EntryMoved,
        EntryRecord,
        EntryState,
        Fault,
        RepairConflict,
        RepairPacket,
    )
    from commonhold.kernel.errors import (
        Code,
        CommonholdError,
        InputError,
        InternalError,
        RefusedError,
        StoreError,
        UsageError,
    )
    from commonhold.kernel.events import (
        CommitRefused,
        Committed,
        CommitUndone,
        ContractChange,
        DebtWaived,
        Event,
        FileChange,
        LeaseBroken,
        LeaseClaimed,
        LeaseDenied,
        LeaseExpired,
        LeaseGranted,
        LeaseHandedOver,
        LeaseQueued,
        LeaseReleased,
        LeaseRenewed,
        Leaving,
        LogCompacted,
        Merge,
        Recorded,
        RegionChange,
        ReleaseAsked,
        StateReset,
        ValuePut,
        WaiterLeft,
        WaiterSeen,
        WorkLeft,
        WorkReviewed,
    )
    from commonhold.kernel.keys import Key, Kind, Name, overlaps
    from commonhold.kernel.lease import Base, Conflict, Lease, Waiter, Wish
    from commonhold.kernel.managed_session import (
        EndCause,
        ManagedSession,
        ManagedSessionRecord,
        Sandbox,
        SessionAttempt,
        SessionMove,
        SessionMoved,
        SessionQueued,
        SessionResult,
        SessionState,
        SessionWish,
    )
    from commonhold.kernel.modes import Mode
    from commonhold.kernel.obligations import Debt
    from commonhold.kernel.partial_work import PartialWork, UnfinishedChange
    from commonhold.kernel.pictures import Change, Status, Who
    from commonhold.kernel.refusals import Refusal
    from commonhold.kernel.run import (
        CandidateOutcome,
        EditCandidate,
        ItemMoved,
        ItemRecord,
        ItemState,
        ItemStep,
        Locking,
        LockPlan,
        Role,
        RoleMessage,
        Run,
        RunMove,
        RunMoved,
        RunPlanned,
        RunRecord,
        RunStarted,
        RunState,
        Spent,
        TokenUsage,
    )
    from commonhold.kernel.task import Attempt, Move, Result, Task, TaskAdded, TaskMoved, TaskRecord, TaskState
    from commonhold.kernel.values import Value, Version
    from commonhold.landing.answers import EntryAnswer, EntryView, QueueView
    from commonhold.landing.commands import EntryStep
    from commonhold.runs.answers import ItemView, RunAnswer, RunView
    from commonhold.runs.commands import Post
    from commonhold.sessions.answers import ManagedSessionAnswer, ManagedSessionView
    from commonhold.sessions.commands import SessionAction, SessionReport
    from commonhold.tasks.answers import TaskAction, TaskAnswer, TaskView
    from commonhold.tasks.board import Collision, Condition, Waiting
    from commonhold.tasks.commands import Collisions

__all__ = [
    "AcquireAnswer",
    "AdoptAnswer",
    "AsyncCommonhold",
    "Attempt",
    "Base",
    "CandidateOutcome",
    "Change",
    "Changeset",
    "Code",
    "Collision",
    "Collisions",
    "CommitAnswer",
    "CommitRefused",
    "CommitUndone",
    "Committed",
    "Commonhold",
    "CommonholdError",
    "Condition",
    "Conflict",
    "ContractChange",
    "Deadline",
    "Debt",
    "DebtWaived",
    "Edit",
    "EditCandidate",
    "EndCause",
    "Entry",
    "EntryAdded",
    "EntryAnswer",
    "EntryMove",
    "EntryMoved",
    "EntryRecord",
    "EntryState",
    "EntryStep",
    "EntryView",
    "Event",
    "Fault",
    "FileChange",
    "Held",
    "InputError",
    "InternalError",
    "ItemMoved",
    "ItemRecord",
    "ItemState",
    "ItemStep",
    "ItemView",
    "Key",
    "Kind",
    "Lease",
    "LeaseAnswer",
    "LeaseBroken",
    "LeaseClaimed",
    "LeaseDenied",
    "LeaseExpired",
    "LeaseGranted",
    "LeaseHandedOver",
    "LeaseQueued",
    "LeaseRef",
    "LeaseReleased",
    "LeaseRenewed",
    "Leaving",
    "LockPlan",
    "Locking",
    "LogCompacted",
    "ManagedSession",
    "ManagedSessionAnswer",
    "ManagedSessionRecord",
    "ManagedSessionView",
    "Merge",
    "MergedRegion",
    "Mode",
    "Move",
    "Name",
    "News",
    "Next",
    "NoteQuote",
    "Obstacle",
    "Op",
    "PartialWork",
    "Piece",
    "Post",
    "Problem",
    "PutAnswer",
    "QueueView",
    "Read",
    "Recorded",
    "Refusal",
    "RefusedError",
    "Region",
    "RegionChange",
    "RegionHash",
    "RegionMap",
    "RegionText",
    "ReleaseAsked",
    "Repair",
    "RepairConflict",
    "RepairPacket",
    "RepairRegion",
    "RequiredEdit",
    "Resolver",
    "Result",
    "ReviewAnswer",
    "Role",
    "RoleMessage",
    "Run",
    "RunAnswer",
    "RunMove",
    "RunMoved",
    "RunPlanned",
    "RunRecord",
    "RunStarted",
    "RunState",
    "RunView",
    "Sandbox",
    "SessionAction",
    "SessionAttempt",
    "SessionMove",
    "SessionMoved",
    "SessionQueued",
    "SessionReport",
    "SessionResult",
    "SessionState",
    "SessionWish",
    "Spent",
    "StateReset",
    "Status",
    "StoreError",
    "Task",
    "TaskAction",
    "TaskAdded",
    "TaskAnswer",
    "TaskMoved",
    "TaskRecord",
    "TaskState",
    "TaskView",
    "TokenUsage",
    "UnfinishedChange",
    "Unmerged",
    "UsageError",
    "Value",
    "ValuePut",
    "Version",
    "Waiter",
    "WaiterLeft",
    "WaiterSeen",
    "Waiting",
    "WaiveAnswer",
    "Who",
    "Wish",
    "WorkLeft",
    "WorkReviewed",
    "connect",
    "connect_async",
    "discover",
    "open",
    "open_async",
    "overlaps",
]
__version__ = "0.1.0"

# The home module of each name. All are loaded on first use: the command line and hooks must start in milliseconds.
_HOMES = {
    "commonhold.kernel.answers": "AcquireAnswer AdoptAnswer CommitAnswer LeaseAnswer MergedRegion News Next NoteQuote"
    " Obstacle Piece PutAnswer RegionHash RegionText Repair RepairRegion RequiredEdit ReviewAnswer Unmerged"
    " WaiveAnswer",
    "commonhold.kernel.pictures": "Change Status Who",
    "commonhold.tasks.answers": "TaskAction TaskAnswer TaskView",
    "commonhold.client.async_session": "AsyncCommonhold",
    "commonhold.client.async_connecting": "connect_async",
    "commonhold.client.async_opening": "open_async",
    "commonhold.client.connecting": "connect",
    "commonhold.client.opening": "open",
    "commonhold.client.external_values": "Resolver",
    "commonhold.client.session": "Commonhold Held",
    "commonhold.kernel.changeset": "Changeset Edit LeaseRef Op Read",
    "commonhold.kernel.clock": "Deadline",
    "commonhold.kernel.obligations": "Debt",
    "commonhold.kernel.entry": "Entry EntryAdded EntryMove EntryMoved EntryRecord EntryState Fault RepairConflict"
    " RepairPacket",
    "commonhold.kernel.errors": "Code CommonholdError InputError InternalError RefusedError StoreError UsageError",
    "commonhold.kernel.events": "CommitRefused Committed CommitUndone ContractChange DebtWaived Event FileChange"
    " LeaseBroken LeaseClaimed LeaseDenied LeaseExpired LeaseGranted LeaseHandedOver LeaseQueued LeaseReleased"
    " LeaseRenewed Leaving LogCompacted Merge Recorded RegionChange ReleaseAsked StateReset ValuePut WaiterLeft"
    " WaiterSeen WorkLeft WorkReviewed",
    "commonhold.kernel.keys": "Key Kind Name overlaps",
    "commonhold.kernel.lease": "Base Conflict Lease Waiter Wish",
    "commonhold.kernel.managed_session": "EndCause ManagedSession ManagedSessionRecord Sandbox SessionAttempt"
    " SessionMove SessionMoved SessionQueued SessionResult SessionState SessionWish",
    "commonhold.kernel.modes": "Mode",
    "commonhold.kernel.partial_work": "UnfinishedChange PartialWork",
    "commonhold.kernel.refusals": "Refusal",
    "commonhold.kernel.run": "CandidateOutcome EditCandidate ItemMoved ItemRecord ItemState ItemStep Locking LockPlan"
    " Role RoleMessage Run RunMove RunMoved RunPlanned RunRecord RunStarted RunState Spent TokenUsage",
    "commonhold.kernel.task": "Attempt Move Result Task TaskAdded TaskMoved TaskRecord TaskState",
    "commonhold.kernel.values": "Value Version",
    "commonhold.code.regions.discover": "discover",
    "commonhold.code.regions.region": "Problem Region RegionMap",
    "commonhold.landing.answers": "EntryAnswer EntryView QueueView",
    "commonhold.landing.commands": "EntryStep",
    "commonhold.runs.answers": "ItemView RunAnswer RunView",
    "commonhold.runs.commands": "Post",
    "commonhold.sessions.answers": "ManagedSessionAnswer ManagedSessionView",
    "commonhold.sessions.commands": "SessionAction SessionReport",
    "commonhold.tasks.board": "Collision Condition Waiting",
    "commonhold.tasks.commands": "Collisions",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


# Hidden from type checkers: with this in view they would accept any name as a public one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Return a public name, loaded on first use."""
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value: object = getattr(import_module(_HOME_OF[name]), "open_session" if name == "open" else name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
