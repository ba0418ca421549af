"""Commands on leases, as values with everything in them that a decision needs."""

from dataclasses import dataclass

from commonhold.domain.keys import Key
from commonhold.domain.modes import Mode


@dataclass(frozen=True, slots=True)
class Acquire:
    """Ask for all of `keys` at once. The ids were drawn by the caller, so that deciding needs no randomness."""

    lease_id: str
    acquisition_id: str
    holder: str
    task: str
    keys: tuple[Key, ...]
    mode: Mode
    ttl_seconds: float


@dataclass(frozen=True, slots=True)
class Renew:
    """Let the lease end `ttl_seconds` from now. The expiry is set, never added to."""

    lease_id: str
    holder: str
    ttl_seconds: float


@dataclass(frozen=True, slots=True)
class Release:
    """End the lease now."""

    lease_id: str
    holder: str
