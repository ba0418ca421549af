"""The choices of a project: how its state is kept and its keys are protected."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from commonhold.kernel.lease import DEFAULT_TTL_SECONDS
from commonhold.kernel.policy import Policies

PATIENCE_SECONDS: Final = 30.0
CONTENT_RETENTION_SECONDS: Final = 30 * 86400.0
ANSWER_RETENTION_SECONDS: Final = 7 * 86400.0
"""How long the first answer to a request is kept for its repetitions."""
ANSWERS_DROPPED_AT_ONCE: Final = 10
"""With each new answer a store drops so many expired ones at most: a backlog shrinks, and no call waits for it."""
DEFAULT_MAX_FILE_BYTES: Final = 10_000_000
IDLE_SECONDS: Final = 600.0


class Release(StrEnum):
    """When edited regions become free for others: at the end of the agent's turn, or once the edit is done.

    Headers become free once the edit is done in any case: all definitions of the file lie beside them.
    """

    TURN = "turn"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class TenantQuota:
    """The most that the running sessions of a tenant may use together: a number of sessions, and sums of their limits.

    `max_sessions` None, `memory_bytes` 0 and `cpus` 0: no quota.
    """

    max_sessions: int | None = None
    memory_bytes: int = 0
    cpus: float = 0.0


@dataclass(frozen=True, slots=True)
class Options:
    """The choices, with their defaults.

    `ttl_seconds`: how long a lease lasts. `patience_seconds`: how long a place in line lasts without a sign of life.
    `retention_seconds`: how long contents are kept. `policies`: which keys must be held before they are changed.
    `host`: the name of this machine among those that share leases. `release`: how long the regions that an agent's own
    tool edits stay leased to it, at most `idle_seconds` after its last sign of life. `offer_tasks`: whether a session
    that has done a task is offered the next one when its turn ends. `capabilities`: by pattern of session names, the
    words for what they can do, which tasks may require. `event_seconds`: how long events are kept; 0: for ever.
    `tenants`: the quotas of tenants by their names; `*` is that of all others.
    """

    ttl_seconds: float = DEFAULT_TTL_SECONDS
    patience_seconds: float = PATIENCE_SECONDS
    retention_seconds: float = CONTENT_RETENTION_SECONDS
    host: str = ""
    policies: Policies = field(default_factory=Policies)
    release: Release = Release.TURN
    idle_seconds: float = IDLE_SECONDS
    offer_tasks: bool = False
    capabilities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    event_seconds: float = 0.0
    tenants: Mapping[str, TenantQuota] = field(default_factory=dict)
