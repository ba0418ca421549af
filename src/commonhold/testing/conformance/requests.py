"""Repeated requests: each gets its first answer, and nothing is done twice (invariant I5)."""
# ruff: noqa: S101, D102 - these are tests: assert is how pytest speaks, and the test's name is its claim

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from commonhold.kernel.commands import Acquire, Break, Command, HandOver, Put, Release, Renew
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.outcomes import Denied, Granted, Outcome, Queued, Released, Stored
from commonhold.testing.conformance.rig import PATIENCE, TTL, Conformance, Rig, expect

KEY = "account:1"


def refused(call: Callable[[], object]) -> UsageError:
    """Return the error of a call that reuses a request id."""
    try:
        answer = call()
    except UsageError as error:
        return error
    message = f"the id of one request was taken for another, and answered {answer!r}"
    raise AssertionError(message)


class RequestConformance(Conformance):
    """Request ids."""

    def test_a_repeated_request_gets_its_first_answer_and_changes_nothing(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = one.lease("account:2")
        commands: tuple[Command[Outcome], ...] = (
            one.wish(KEY),
            one.wish(KEY),
            Put(canonical("user:1"), "one", "x", 0),
            Put(canonical("user:1"), "one", "x", 0, fence=lease.fence),
            Renew(lease.id, "one", TTL),
            HandOver(lease.id, "one", "two"),
            Release(lease.id, "one"),
            Break(lease.id, "one", "why"),
        )
        answers = [one.run(command, f"request-{number}") for number, command in enumerate(commands)]
        rig.advance(TTL + 1)
        two.heartbeat()
        before = len(one.log())
        (later,) = self.callers(rig, "one")
        for number, command in enumerate(commands):
            assert later.run(command, f"request-{number}") == answers[number]
        assert len(one.log()) == before
        assert one.leases() == ()

    def test_a_refusal_is_repeated_too(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        lease = two.lease(KEY)
        wish = one.wish(KEY)
        denied = expect(Denied, one.run(wish, "r1"))
        two.release(lease)
        assert one.run(wish, "r1") == denied

    def test_a_request_that_is_sent_many_times_at_once_acts_once(self, rig: Rig) -> None:
        callers = self.callers(rig, *["one"] * 8)
        command = Put(canonical(KEY), "one", "x", 0)
        with ThreadPoolExecutor(len(callers)) as threads:
            answers = list(threads.map(lambda caller: caller.run(command, "r1"), callers))
        assert len(set(answers)) == 1
        assert isinstance(answers[0], Stored)
        assert len(callers[0].log()) == 1

    def test_an_id_belongs_to_one_holder(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        expect(Granted, one.run(one.wish("account:1"), "r1"))
        assert expect(Granted, two.run(two.wish("account:2"), "r1")).lease.holder == "two"

    def test_an_id_that_was_used_for_another_request_is_an_error_and_changes_nothing(self, rig: Rig) -> None:
        (one,) = self.callers(rig, "one")
        one.run(one.wish("account:1"), "r1")
        before = one.log()
        error = refused(lambda: one.run(one.wish("account:2"), "r1"))
        assert (error.code, error.fields["request_id"]) == (Code.REQUEST_ID_REUSED, "r1")
        assert one.log() == before

    def test_the_first_answer_can_be_looked_up(self, rig: Rig) -> None:
        one, two = self.callers(rig, "one", "two")
        wish = one.wish(KEY)
        once = Once("r1", repr(wish))
        assert one.registry.first_outcome("one", once) is None
        granted = one.run(wish, "r1")
        assert two.registry.first_outcome("one", once) == granted
        assert two.registry.first_outcome("two", once) is None
        error = refused(lambda: two.registry.first_outcome("one", Once("r1", "another")))
        assert error.code is Code.REQUEST_ID_REUSED

    def test_waiting_is_no_answer_yet(self, rig: Rig) -> None:
        """The request is repeated until it is served; from then on it has its answer."""
        one, two = self.callers(rig, "one", "two")
        lease = one.lease(KEY)
        wish: Acquire = two.wish(KEY, patience=PATIENCE)
        expect(Queued, two.run(wish, "r1"))
        expect(Queued, two.run(wish, "r1"))
        assert two.registry.first_outcome("two", Once("r1", repr(wish))) is None
        one.release(lease)
        granted = expect(Granted, two.run(wish, "r1"))
        expect(Released, two.release(granted.lease))
        assert two.run(wish, "r1") == granted
        assert two.leases() == ()
