"""What one session lets another be told: once, at its next call, whoever is there by then."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.own_tools import SOURCE, Workshop, workshop

from commonhold.app.service import Service

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
    one.arrive()
    one.depart()
    two.send(["one"], TEXT)
    assert told(shop.service("one", "tree")) == []
    assert told(shop.service("one")) == [TEXT]


def test_what_is_for_a_subagent_that_has_ended_its_session_is_told(shop: Workshop) -> None:
    inner, ended, two = shop.service("one/inner"), shop.service("one/ended"), shop.service("two")
    inner.arrive()
    two.send(["one/inner", "one/ended"], TEXT)
    assert (told(inner), told(ended), told(shop.service("one"))) == ([TEXT], [], [TEXT])
