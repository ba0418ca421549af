"""A guard that leases the keys before a write of a graph, and releases them after it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypedDict

from langgraph.runtime import ExecutionInfo
from langgraph.types import interrupt

from commonhold.api.wire import shapes
from commonhold.api.wire.text import Json
from commonhold.client.opening import Choices
from commonhold.client.session import Commonhold
from commonhold.integrations.langgraph.identity import execution, holder_of, task_id
from commonhold.integrations.langgraph.sessions import Sessions
from commonhold.kernel.answers import AcquireAnswer
from commonhold.kernel.changeset import LeaseRef
from commonhold.kernel.modes import Mode

GIVE_UP: Final = "give up"
"""Resume a graph that waits in line with `Command(resume=GIVE_UP)`, and it leaves the line."""


class Guarded(TypedDict, total=False):
    """The state that a guard adds to its graph: the answer to its request, in the JSON form of docs/reference.md."""

    guard: Json


@dataclass(frozen=True)
class Guard:
    """Leases the keys that a graph is about to write.

    `acquire` and `release` are its nodes; `outcome` chooses the next node. `keys` and `task` return, from the state,
    the keys to write and the purpose: others see the task. With `patience_seconds` a graph that gets no lease takes a
    place in line and is interrupted: resume it within that time to ask again, and the place is kept. Without, the
    request is denied, and the answer names the holders of the keys.
    """

    keys: Callable[[Any], Iterable[str]]
    task: Callable[[Any], str]
    path: str = "."
    _: KW_ONLY
    mode: Mode = Mode.EXCLUSIVE
    ttl_seconds: float | None = None
    patience_seconds: float | None = None
    holder: Callable[[ExecutionInfo], str] = holder_of
    choices: Choices = field(default_factory=Choices)

    @cached_property
    def _sessions(self) -> Sessions:
        return Sessions(self.path, self.choices)

    def acquire(self, state: Any) -> Guarded:  # noqa: ANN401 - a graph's state may be of any class
        """Run the node before the write: it requests all keys at once."""
        info = execution()
        with self._sessions.of(self.holder(info)) as hold:
            return {"guard": shapes.acquire(self._granted(hold, state, task_id(info, "guard")))}

    def _granted(self, hold: Commonhold, state: Any, ticket: str) -> AcquireAnswer:  # noqa: ANN401
        keys, task = tuple(self.keys(state)), self.task(state)
        answer = hold.acquire(
            *keys,
            task=task,
            mode=self.mode,
            ttl_seconds=self.ttl_seconds,
            patience_seconds=self.patience_seconds,
            ticket=ticket,
        )
        while answer.outcome == "queued":
            # The interrupts that were resumed already return at once, in order; the next one stops the node here.
            if interrupt(shapes.acquire(answer)) == GIVE_UP:
                hold.release(ticket)
                return hold.acquire(*keys, task=task, mode=self.mode, ttl_seconds=self.ttl_seconds)
        return answer

    def outcome(self, state: Any) -> Literal["granted", "denied"]:  # noqa: ANN401
        """Return the branch to take after `acquire`: for `add_conditional_edges`."""
        return "granted" if _guard_of(state).get("outcome") == "granted" else "denied"

    def release(self, state: Any) -> Guarded:  # noqa: ANN401
        """Run the node after the write: it releases the lease."""
        with self._sessions.of(self.holder(execution())) as hold:
            for lease in leases_of(state):
                hold.release(lease.id)
        return {"guard": {}}

    def close(self) -> None:
        """Close the sessions. Leases stay as they are."""
        self._sessions.close()


def leases_of(state: Any) -> tuple[LeaseRef, ...]:  # noqa: ANN401
    """Return the lease that a guard was granted, to be named in a changeset."""
    lease = _guard_of(state).get("lease")
    return (LeaseRef(lease["id"], lease["fence"]),) if lease else ()


def _guard_of(state: Any) -> Json:  # noqa: ANN401
    found = state.get("guard") if isinstance(state, Mapping) else getattr(state, "guard", None)
    return found or {}
