"""One id for a request, in its threads and tasks, and in no other request."""

import asyncio
import threading
from contextvars import copy_context

import pytest

from commonhold.machine.correlation import accepted, correlated, current, new_id


def test_there_is_an_id_inside_of_a_request_alone() -> None:
    assert current() == ""
    with correlated():
        first = current()
        assert len(first) == 12
    with correlated():
        assert current() not in ("", first)
    assert current() == ""


def test_a_request_inside_of_another_is_a_part_of_it_unless_it_was_sent_with_an_id() -> None:
    with correlated("a1"):
        with correlated():
            assert current() == "a1"
        with correlated("b2"):
            assert current() == "b2"
        assert current() == "a1"


@pytest.mark.parametrize("sent", ["", "two words", "line\nfeed", "a" * 33, "é", "a=b", '"', "../x"])
def test_an_id_that_could_not_stand_in_a_log_line_is_replaced(sent: str) -> None:
    assert accepted(sent) != sent
    assert accepted(accepted(sent)).isalnum()


@pytest.mark.parametrize("sent", ["c0ffee", "4bf92f3577b34da6a3ce929d0e0e4736"])
def test_an_id_of_the_client_is_kept(sent: str) -> None:
    assert accepted(sent) == sent


def test_ids_differ() -> None:
    assert len({new_id() for _ in range(1000)}) == 1000


def test_a_thread_has_the_id_of_the_request_whose_context_it_gets() -> None:
    found: list[str] = []
    with correlated("a1"):
        copied = copy_context()
        threads = [
            threading.Thread(target=lambda: found.append(current())),
            threading.Thread(target=copied.run, args=(lambda: found.append(current()),)),
        ]
        for thread in threads:
            thread.start()
            thread.join()
    assert found == ["", "a1"]


def test_tasks_at_once_have_each_its_own() -> None:
    async def ask(sent: str) -> str:
        with correlated(sent):
            await asyncio.sleep(0)
            return current()

    async def ask_all() -> list[str]:
        return list(await asyncio.gather(*map(ask, ("a1", "b2", "c3"))))

    assert asyncio.run(ask_all()) == ["a1", "b2", "c3"]


def test_a_coroutine_that_is_closed_in_another_context_raises_nothing() -> None:
    async def wait() -> None:
        with correlated("a1"):
            await asyncio.sleep(0)

    coroutine = wait()
    copy_context().run(coroutine.send, None)
    coroutine.close()
    assert current() == ""
