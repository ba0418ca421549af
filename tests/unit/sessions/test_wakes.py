"""Wakes as their senders see them: they neither wait nor fail, and several are one. Brokers are in tests/e2e."""

import sys
import threading

import pytest
from tests.patience import until

from commonhold.kernel.errors import UsageError
from commonhold.sessions.wakes import Waker, check_broker, check_celery


def test_wakes_that_are_asked_for_while_one_is_being_sent_are_one() -> None:
    begun, may_end, sent = threading.Event(), threading.Event(), 0

    def send() -> None:
        nonlocal sent
        sent += 1
        begun.set()
        may_end.wait()

    wake = Waker(send)
    wake()
    begun.wait()
    for _ in range(5):
        wake()
    may_end.set()
    until(lambda: all(each.name != "commonhold-wake" for each in threading.enumerate()), what="all wakes are sent")
    assert sent == 2
    wake()
    until(lambda: sent == 3, what="a later wake is sent, too")


def test_a_broker_that_does_not_answer_is_described() -> None:
    assert "refused" in check_broker("redis://127.0.0.1:1/0").lower()


def test_without_celery_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "celery", None)
    with pytest.raises(UsageError) as raised:
        check_celery()
    assert raised.value.hint == "install it with: pip install 'commonhold[celery]'"
