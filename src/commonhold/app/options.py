"""What a project chooses about how its state is kept and its keys are protected."""

from dataclasses import dataclass, field
from typing import Final

from commonhold.app.forgetting import CONTENT_RETENTION_SECONDS
from commonhold.app.policy import Policies
from commonhold.domain.lease import DEFAULT_TTL_SECONDS

PATIENCE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Options:
    """The choices, with what is usual.

    `ttl_seconds`: how long a lease lasts. `patience_seconds`: how long a place in line lasts without a sign of life.
    `retention_seconds`: how long contents are kept. `policies`: which keys must be held before they are changed.
    `host`: the name of this machine among those that share leases.
    """

    ttl_seconds: float = DEFAULT_TTL_SECONDS
    patience_seconds: float = PATIENCE_SECONDS
    retention_seconds: float = CONTENT_RETENTION_SECONDS
    host: str = ""
    policies: Policies = field(default_factory=Policies)
