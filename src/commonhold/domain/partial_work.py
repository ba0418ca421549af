"""Partial work: what a holder had changed when its lease was taken from it, kept for review."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Left:
    """A key that is not what it was at the grant: its hashes then and now, None where it was or is not there."""

    key: str
    base: str | None
    now: str | None


@dataclass(frozen=True, slots=True)
class PartialWork:
    """What was left by a lease that expired or was broken. Nothing was reverted; `changes` is never empty."""

    lease_id: str
    holder: str
    task: str
    worktree: str
    changes: tuple[Left, ...]
    found_at: float
