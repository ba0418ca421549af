"""A node that commits: once, however often the graph is run again from before it."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from langgraph.runtime import ExecutionInfo
from langgraph.types import RetryPolicy

from commonhold.api.wire import shapes
from commonhold.api.wire.text import Json
from commonhold.client.opening import Choices
from commonhold.integrations.langgraph.guarding import leases_of
from commonhold.integrations.langgraph.identity import execution, holder_of, task_id
from commonhold.integrations.langgraph.sessions import Sessions
from commonhold.kernel.changeset import Changeset
from commonhold.kernel.errors import CommonholdError


def _may_succeed_later(fault: Exception) -> bool:
    return isinstance(fault, CommonholdError) and fault.retryable


COMMIT_RETRY: Final = RetryPolicy(initial_interval=0.2, max_attempts=5, retry_on=_may_succeed_later)
"""For a node that commits: repeats a failure that may succeed later. A refusal is an answer, and never repeated."""


@dataclass(frozen=True)
class Committing:
    """Commits the changeset that `changeset` makes of the state, under the lease that a guard was granted, if any.

    `commit` is the node; it puts the answer into the state as `commit`, in the JSON form of docs/reference.md.
    """

    changeset: Callable[[Any], Changeset]
    path: str = "."
    _: KW_ONLY
    holder: Callable[[ExecutionInfo], str] = holder_of
    choices: Choices = field(default_factory=Choices)

    @cached_property
    def _sessions(self) -> Sessions:
        return Sessions(self.path, self.choices)

    def commit(self, state: Any) -> dict[str, Json]:  # noqa: ANN401 - a graph's state may be of any class
        """Run the node. A run that crashed after the commit gets the answer of then."""
        info = execution()
        wanted = self.changeset(state)
        named = replace(
            wanted,
            leases=wanted.leases or leases_of(state),
            request_id=wanted.request_id or task_id(info, "commit"),
        )
        with self._sessions.of(self.holder(info)) as hold:
            return {"commit": shapes.commit(hold.commit(named))}

    def close(self) -> None:
        """Close the sessions. Leases stay as they are."""
        self._sessions.close()
