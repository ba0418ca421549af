"""Partial work: changes that a holder had made when its lease expired or was broken, kept for review."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnfinishedChange:
    """A key that changed since the grant: its hashes then and now, None where it did or does not exist."""

    key: str
    base: str | None
    now: str | None


@dataclass(frozen=True, slots=True)
class PartialWork:
    """The changes left behind under a lease that expired or was broken. None was reverted; `changes` is never empty."""

    lease_id: str
    holder: str
    task: str
    worktree: str
    changes: tuple[UnfinishedChange, ...]
    found_at: float
