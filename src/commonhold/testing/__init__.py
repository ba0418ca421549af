"""Test tools for programs that use Commonhold: a clock moved by hand, counting ids, and a suite for other stores.

An author of a store of leases shows that it keeps the promises by running `commonhold.testing.conformance` against it.
"""

from commonhold.testing.fakes import CountingIds, FakeClock

__all__ = ["CountingIds", "FakeClock"]
