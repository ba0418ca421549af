"""Who is at work, and what somebody who comes to work there is told."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.own_tools import SOURCE, Workshop, workshop

from commonhold.commits.attendance import GONE_SECONDS, RECENT_SECONDS
from commonhold.kernel.texts import MAX_TEXT_LENGTH

pytestmark = pytest.mark.slow

F_OTHERWISE = SOURCE.replace("return 1", "return 10")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with workshop(tmp_path) as made:
        yield made


def test_nobody_is_told_of_itself_nor_of_write_slots(shop: Workshop) -> None:
    one = shop.hand("one")
    one.service.start_session("7:1")
    one.edit({"a.py": F_OTHERWISE})
    one.propose({"a.py": SOURCE.replace("return 2", "return 20")}, call="second")
    found = one.service.briefing()
    assert (found.others, found.leases, found.changes, found.works) == ((), (), (), ())
    told = shop.service("two").start_session()
    assert [each.holder for each in told.others] == ["one"]
    assert [each.keys for each in told.leases] == [("file:a.py#f",), ("file:a.py#g",)]
    assert [(each.holder, each.intent) for each in told.changes] == [("one", "mend it")]


def test_only_what_is_near_in_time_and_place_is_told(shop: Workshop) -> None:
    shop.write("a.py", SOURCE, "tree")
    one, far, two = shop.hand("one"), shop.hand("far", "tree"), shop.service("two")
    for hand in (one, far):
        hand.service.start_session()
        hand.edit({"a.py": F_OTHERWISE})
        hand.service.end_turn()
    assert [each.holder for each in two.briefing().changes] == ["one"]
    assert [each.holder for each in two.briefing().others] == ["one"]
    shop.clock.advance(RECENT_SECONDS)
    assert two.briefing().changes == ()
    shop.clock.advance(GONE_SECONDS)
    assert two.briefing().others == ()


def test_who_rests_is_there_still_and_who_departs_is_not(shop: Workshop) -> None:
    one, two = shop.service("one"), shop.service("two")
    one.set_intent("mend it")
    one.end_turn()
    assert [(each.intent, each.is_at_rest) for each in two.briefing().others] == [("mend it", True)]
    one.set_intent("and again")
    assert [each.is_at_rest for each in two.briefing().others] == [False]
    one.end_session()
    assert two.briefing().others == ()
    assert one.intent() == ""
    assert one.end_turn().outcome == "nothing", "whoever never came may rest all the same"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("mend\n\n the  parser", "mend the parser"),
        ("red \x1b[31m text\x07", "red [31m text"),
        ("a\u2028b\u202ec\u200bd", "a bcd"),
        ("\udc80x", "x"),
        ("é" * 5000, "é" * MAX_TEXT_LENGTH),
        (" \n\t ", ""),
    ],
    ids=["lines", "escapes", "directions", "half a pair", "long", "blank"],
)
def test_an_intent_is_one_line_that_cannot_act_on_who_reads_it(shop: Workshop, said: str, kept: str) -> None:
    one = shop.service("one")
    one.set_intent(said)
    assert one.intent() == kept
    assert one.acquire("a.py#f", task=one.intent()).outcome == "granted"


def test_an_empty_wish_leaves_the_last_intent(shop: Workshop) -> None:
    one = shop.service("one")
    one.set_intent("mend it")
    one.set_intent("")
    one.start_session()
    assert one.intent() == "mend it"


def test_what_a_session_owes_is_told_to_it_alone(shop: Workshop) -> None:
    called = "def price(item):\n    return item\n\n\ndef total(items):\n    return sum(price(each) for each in items)\n"
    shop.write("c.py", called)
    one = shop.hand("one")
    one.edit({"c.py": called.replace("price(item):", "price(item, tax):")})
    assert [each.key for each in one.service.start_session().debts] == ["file:c.py#total"]
    assert shop.service("two").start_session().debts == ()


def test_who_has_no_name_may_look(shop: Workshop) -> None:
    shop.service("one").set_intent("mend it")
    assert [each.holder for each in shop.service(None).briefing().others] == ["one"]


def test_what_was_left_half_done_is_told_to_all(shop: Workshop) -> None:
    one = shop.hand("one")
    one.service.start_session("7:1")
    one.edit({"a.py": F_OTHERWISE}, intent="ten is enough")
    told = one.service.start_session("8:1")
    assert [(each.holder, each.task) for each in told.works] == [("one", "ten is enough")]
    assert [each.holder for each in shop.service("two").start_session().works] == ["one"]
