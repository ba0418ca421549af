"""For tests of what is built on Commonhold: a clock to move by hand, names that count, and a suite for other stores.

Whoever keeps leases in a store of their own shows that it keeps the promises by running
`commonhold.testing.conformance` against it.
"""

from commonhold.testing.fakes import CountingIds, FakeClock

__all__ = ["CountingIds", "FakeClock"]
