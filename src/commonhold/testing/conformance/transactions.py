"""The effects of a transaction are applied together, or not at all."""
# ruff: noqa: S101, D102 - these are tests: assert is how pytest speaks, and the test's name is its claim

from contextlib import suppress
from typing import NoReturn

from commonhold.kernel.outcomes import Denied, Granted
from commonhold.testing.conformance.rig import PATIENCE, Caller, Conformance, Rig, expect

KEY = "account:1"


class _Interrupted(Exception):  # noqa: N818 - it is no error: it is thrown and caught by the tests themselves
    """An error in the middle of a transaction."""


class TransactionConformance(Conformance):
    """For registries whose `together` is one transaction for the commands that are executed inside it."""

    def test_a_transaction_takes_effect_as_a_whole(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        with one.registry.together():
            one.lease("account:1")
            with one.registry.together():
                one.put("user:1", "x", 0)
            one.lease("account:2")
        assert two.holders() == ["one", "one"]
        assert two.version("user:1").version > 0

    def test_an_exception_leaves_nothing(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        one.put("user:1", "x", 0)
        waiter = two.wait(KEY)
        before, leases, version = one.log(), one.leases(), one.version("user:1")
        _do_and_be_interrupted(one, lease_id="lost")
        assert (one.log(), one.leases(), one.version("user:1")) == (before, leases, version)
        assert one.line() == ["two"]
        one.release(lease)
        assert expect(Granted, two.again(waiter)).lease.fence > lease.fence

    def test_an_answer_that_was_taken_back_is_not_remembered(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        wish = one.wish(KEY)
        with suppress(_Interrupted), one.registry.together():
            one.run(wish, "r1")
            _interrupt()
        assert one.leases() == ()
        two.lease(KEY)
        assert isinstance(one.run(wish, "r1"), Denied)

    def test_others_go_on_after_an_exception(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        _do_and_be_interrupted(one, lease_id="lost")
        two.lease(KEY, lease_id="lost")
        assert two.holders() == ["two"]


def _do_and_be_interrupted(caller: Caller, lease_id: str) -> None:
    """Execute several commands together, and be interrupted before the end."""
    with suppress(_Interrupted), caller.registry.together():
        caller.acquire("account:2", lease_id=lease_id, patience=PATIENCE)
        caller.put("user:1", "y", caller.version("user:1").version)
        for lease in caller.leases():
            caller.release(lease)
        _interrupt()


def _interrupt() -> NoReturn:
    raise _Interrupted
