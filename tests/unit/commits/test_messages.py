"""What one session lets another be told: once, at its next call, whoever is there by then."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.own_tools import SOURCE, Workshop, workshop

from commonhold.api.service import Service

pytestmark = pytest.mark.slow

TEXT = "two replaced lines of yours in a.py"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with workshop(tmp_path) as made:
        yield made


def told(service: Service) -> list[str]:
    return [each.notice for each in service.news()]


def test_a_message_is_told_once_to_those_it_is_for(shop: Workshop) -> None:
    one, two, three = (shop.service(each) for each in ("one", "two", "three"))
    two.send(["one", "two", "outside"], TEXT)
    two.send(["one"], TEXT)
    assert (told(two), told(three)) == ([], [])
    assert [(each.text, each.changed_by, each.key) for each in one.news()] == [(TEXT, "two", "")]
    assert told(one) == []
    two.send(["one"], TEXT)
    assert told(one) == [TEXT], "what happens anew is told anew"


def test_it_comes_with_the_next_answer_that_has_notices(shop: Workshop) -> None:
    one, two = shop.hand("one"), shop.service("two")
    two.send(["one"], TEXT)
    one.edit({"a.py": SOURCE.replace("return 1", "return 10")})
    two.send(["one"], "and more")
    assert one.service.acquire("a.py").notices == ("and more",)


def test_it_is_for_one_working_tree_and_waits_for_who_comes_back(shop: Workshop) -> None:
    shop.write("a.py", SOURCE, "tree")
    one, two = shop.service("one"), shop.service("two")
    one.start_session()
    one.end_session()
    two.send(["one"], TEXT)
    assert told(shop.service("one", "tree")) == []
    assert told(shop.service("one")) == [TEXT]


def test_what_is_for_a_subagent_that_has_ended_its_session_is_told(shop: Workshop) -> None:
    inner, ended, two = shop.service("one/inner"), shop.service("one/ended"), shop.service("two")
    inner.start_session()
    two.send(["one/inner", "one/ended"], TEXT)
    assert (told(inner), told(ended), told(shop.service("one"))) == ([TEXT], [], [TEXT])


def test_a_lapse_is_told_as_one_to_who_had_the_lease_and_to_who_asked_for_it(shop: Workshop) -> None:
    one, two, three = (shop.service(each) for each in ("one", "two", "three"))
    lease = one.acquire("a.py#f", task="a rework", ttl_seconds=600).lease
    assert lease is not None
    two.ask(lease.id, why="my fix waits for it")
    shop.write("a.py", SOURCE.replace("return 1", "return 10"))
    shop.clock.advance(601)
    shop.service(None).sweep()
    kept = f"the changes made under it are kept: `commonhold review show {lease.id}`"
    mine = "your lease on file:a.py#f lapsed after 10 min without a sign of life from you; others may hold it by now"
    assert f"{mine}; {kept}" in told(one)
    asked = f"one did not release file:a.py#f: the lease lapsed after 10 min without a sign of life; {kept}"
    assert (told(two), told(three)) == ([asked], [])
    assert f"the lease {lease.id} lapsed: it expired without a sign of life" in one.renew(lease.id).why


def test_what_was_released_has_not_lapsed(shop: Workshop) -> None:
    one, two = shop.service("one"), shop.service("two")
    lease = one.acquire("a.py#f", task="a rework", ttl_seconds=600).lease
    assert lease is not None
    two.ask(lease.id, why="my fix waits for it")
    one.release(lease.id)
    shop.clock.advance(601)
    shop.service(None).sweep()
    assert (told(one), told(two)) == ([], [])


def test_whose_turn_it_is_after_a_lapse_is_told_of_that(shop: Workshop) -> None:
    one, two = shop.service("one"), shop.service("two")
    one.acquire("a.py#f", task="a rework", ttl_seconds=600)
    ticket = two.acquire("a.py#f", task="a fix", patience_seconds=1000).ticket
    shop.clock.advance(601)
    granted = two.acquire("a.py#f", task="a fix", patience_seconds=1000, ticket=ticket)
    assert granted.outcome == "granted"
    assert any("one did not release file:a.py#f: the lease lapsed" in each for each in granted.notices)
