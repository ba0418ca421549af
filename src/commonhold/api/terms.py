"""The types in the signatures of the service, each loaded at its first use: a command makes few calls.

So a caller of `typing.get_type_hints` finds them, and other callers do not wait for them.
`make generate` derives this file.
"""
# ruff: noqa: PLC0414 - type checkers treat an import as a re-export only if it is named twice

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from commonhold.code.regions.region import RegionMap as RegionMap
    from commonhold.commits.key_version import KeyVersion as KeyVersion
    from commonhold.commits.region_list import RegionList as RegionList
    from commonhold.commits.undo.answers import UndoAnswer as UndoAnswer
    from commonhold.history.answers import Account as Account
    from commonhold.history.answers import CompactionAnswer as CompactionAnswer
    from commonhold.history.answers import ReplayAnswer as ReplayAnswer
    from commonhold.kernel.answers import AcquireAnswer as AcquireAnswer
    from commonhold.kernel.answers import AdoptAnswer as AdoptAnswer
    from commonhold.kernel.answers import CommitAnswer as CommitAnswer
    from commonhold.kernel.answers import LeaseAnswer as LeaseAnswer
    from commonhold.kernel.answers import News as News
    from commonhold.kernel.answers import NoteQuote as NoteQuote
    from commonhold.kernel.answers import PutAnswer as PutAnswer
    from commonhold.kernel.answers import RecordAnswer as RecordAnswer
    from commonhold.kernel.answers import RegionHash as RegionHash
    from commonhold.kernel.answers import RegionText as RegionText
    from commonhold.kernel.answers import ReviewAnswer as ReviewAnswer
    from commonhold.kernel.answers import WaiveAnswer as WaiveAnswer
    from commonhold.kernel.changeset import Changeset as Changeset
    from commonhold.kernel.events import CommitUndone as CommitUndone
    from commonhold.kernel.events import Recorded as Recorded
    from commonhold.kernel.hash_chain import ChainLink as ChainLink
    from commonhold.kernel.lease import Lease as Lease
    from commonhold.kernel.managed_session import SessionState as SessionState
    from commonhold.kernel.partial_work import PartialWork as PartialWork
    from commonhold.kernel.pictures import Briefing as Briefing
    from commonhold.kernel.pictures import Status as Status
    from commonhold.kernel.pictures import Who as Who
    from commonhold.kernel.run import RunMove as RunMove
    from commonhold.kernel.run import TokenUsage as TokenUsage
    from commonhold.kernel.task import Task as Task
    from commonhold.kernel.values import Value as Value
    from commonhold.kernel.values import Version as Version
    from commonhold.landing.answers import EntryAnswer as EntryAnswer
    from commonhold.landing.commands import EntryStep as EntryStep
    from commonhold.leases.acquire_options import AcquireOptions as AcquireOptions
    from commonhold.runs.answers import RunAnswer as RunAnswer
    from commonhold.runs.commands import Post as Post
    from commonhold.sessions.answers import ManagedSessionAnswer as ManagedSessionAnswer
    from commonhold.sessions.commands import SessionAction as SessionAction
    from commonhold.sessions.commands import SessionReport as SessionReport
    from commonhold.sessions.options import SessionOptions as SessionOptions
    from commonhold.tasks.answers import TaskAction as TaskAction
    from commonhold.tasks.answers import TaskAnswer as TaskAnswer
    from commonhold.tasks.commands import Collisions as Collisions
    from commonhold.views.overview import Overview as Overview
    from commonhold.views.timeline import Timeline as Timeline

_HOMES: Final = {
    "commonhold.code.regions.region": "RegionMap",
    "commonhold.commits.key_version": "KeyVersion",
    "commonhold.commits.region_list": "RegionList",
    "commonhold.commits.undo.answers": "UndoAnswer",
    "commonhold.history.answers": "Account CompactionAnswer ReplayAnswer",
    "commonhold.kernel.answers": "AcquireAnswer AdoptAnswer CommitAnswer LeaseAnswer News NoteQuote PutAnswer"
    " RecordAnswer RegionHash RegionText ReviewAnswer WaiveAnswer",
    "commonhold.kernel.changeset": "Changeset",
    "commonhold.kernel.events": "CommitUndone Recorded",
    "commonhold.kernel.hash_chain": "ChainLink",
    "commonhold.kernel.lease": "Lease",
    "commonhold.kernel.managed_session": "SessionState",
    "commonhold.kernel.partial_work": "PartialWork",
    "commonhold.kernel.pictures": "Briefing Status Who",
    "commonhold.kernel.run": "RunMove TokenUsage",
    "commonhold.kernel.task": "Task",
    "commonhold.kernel.values": "Value Version",
    "commonhold.landing.answers": "EntryAnswer",
    "commonhold.landing.commands": "EntryStep",
    "commonhold.leases.acquire_options": "AcquireOptions",
    "commonhold.runs.answers": "RunAnswer",
    "commonhold.runs.commands": "Post",
    "commonhold.sessions.answers": "ManagedSessionAnswer",
    "commonhold.sessions.commands": "SessionAction SessionReport",
    "commonhold.sessions.options": "SessionOptions",
    "commonhold.tasks.answers": "TaskAction TaskAnswer",
    "commonhold.tasks.commands": "Collisions",
    "commonhold.views.overview": "Overview",
    "commonhold.views.timeline": "Timeline",
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
