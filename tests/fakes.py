"""A clock that stands still until told, and names that count: those that users get too."""

from commonhold.testing import CountingIds, FakeClock

__all__ = ["CountingIds", "FakeClock"]
