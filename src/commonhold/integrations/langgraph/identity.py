"""The holder: a graph's thread, or a part of it that runs by itself."""

import hashlib
from typing import Final

from langgraph.runtime import ExecutionInfo, get_runtime

from commonhold.agents.hook_events import Caller
from commonhold.kernel.errors import Code, UsageError

AGENT: Final = "langgraph"
_TOLD_OF_TASK: Final = 8


def execution() -> ExecutionInfo:
    """Return the execution info of the node that runs now. Raises UsageError if none does."""
    found = get_runtime().execution_info
    if found is None:
        raise UsageError(Code.USAGE, "this runs outside of a graph", hint="add it to a graph as a node, or as a tool")
    return found


def holder_of(info: ExecutionInfo, session: str = "") -> str:
    """Return the holder of a node's graph: its thread, and below it the subgraph, if it is one.

    The nodes of a graph are one holder, since one of them acquires the keys that another writes. A subgraph is its own
    holder: two that run at once must not take each other's leases for theirs. `session` stands in for a thread that has
    no id. Raises UsageError `HOLDER_MISSING` if there is neither.
    """
    thread = info.thread_id or session
    if not thread:
        raise UsageError(
            Code.HOLDER_MISSING,
            "the run has no thread_id, so others could not see whose lease this is",
            hint='run the graph with {"configurable": {"thread_id": "..."}}, or say who holds with holder=',
        )
    around = info.checkpoint_ns.split("|")[:-1]
    return Caller(AGENT, thread, "/".join(map(_short, around))).holder


def task_id(info: ExecutionInfo, what: str) -> str:
    """Return an id of an action of a node: the same when the node is run again, after an interrupt or a crash."""
    named = f"{info.thread_id}|{info.checkpoint_ns}|{what}"
    return f"{AGENT}-{hashlib.sha256(named.encode()).hexdigest()[:32]}"


def _short(segment: str) -> str:
    """Return the name of a node and the first letters of its task's id, which distinguish two runs of it."""
    name, mark, task = segment.partition(":")
    return f"{name}{mark}{task[:_TOLD_OF_TASK]}"
