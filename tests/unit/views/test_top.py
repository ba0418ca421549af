"""The overview in a terminal."""

import pytest
from tests.unit.history.shop import Shop

from commonhold.cli.top import _changed
from commonhold.cli.top_view import lines
from commonhold.kernel.entry import Entry, EntryRecord
from commonhold.landing.answers import EntryView, QueueView
from commonhold.views.overview import Overview


def test_an_empty_repository_says_how_to_begin() -> None:
    text = "\n".join(lines(Overview("/a/shop", 0.0, 0)))
    assert "shop" in text
    assert "commonhold install" in text


def test_agents_needs_and_conflicts_are_shown(shop: Shop) -> None:
    ann, ben = shop.session("ann"), shop.session("ben")
    ann.start_session("process")
    ann.set_intent("a discount")
    ann.acquire("a.py#f", task="percent")
    ben.acquire("a.py#f", task="round")
    ben.acquire("a.py#f", task="round", patience_seconds=60)
    ann.acquire("b.py", task="draft", ttl_seconds=5)
    (shop.folder / "b.py").write_text("x = 2\n", encoding="utf-8")
    shop.clock.advance(10)
    shop.session("person").sweep()
    text = "\n".join(lines(shop.session("person").overview()))
    for words in (
        "1 waiting",
        "1 for you",
        "draft",
        "a discount",
        "a.py#f behind ann",
        "hooks,",
        "LOCK_CONFLICT",
        "10 s",
    ):
        assert words in text, text


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_shows_the_same_without_breaking_words(
    shop: Shop, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, ben = shop.session("claude:26baef9a"), shop.session("ben")
    ann.acquire("src/billing.py", task="a discount [in percent]")
    ben.acquire("src/billing.py", task="round", patience_seconds=60)
    monkeypatch.setenv("COLUMNS", str(width))
    found = list(lines(shop.session("person").overview()))
    assert max(map(len, found)) <= width
    for words in ("claude:26baef9a", "a discount [in percent]", "holds src/billing.py", "waits for src/billing.py"):
        assert any(words in line for line in found), found


def test_the_merge_queue_is_shown_with_the_reason_of_each_wait() -> None:
    entry = Entry("e1", "discounts", "c1", "refs/heads/main", "a discount in \x1b[31m percent")
    view = EntryView(EntryRecord(entry, 1, 1, "ann", 5.0, 5.0), why="2 ahead of it")
    queue = QueueView("refs/heads/main", "queue-1", 3, 1, 0)
    text = "\n".join(lines(Overview("/a/shop", 65.0, 1, landing=(queue,), entries=(view,))))
    for words in ("4 to land", "discounts", "queued", "60 s", "2 ahead of it"):
        assert words in text, text
    assert "\x1b" not in text


def test_no_control_character_of_an_agent_reaches_the_terminal(shop: Shop) -> None:
    shop.session("ann").start_session("process")
    shop.session("ann").set_intent("[bold]red[/bold] \x1b[31m \x07")
    text = "\n".join(lines(shop.session("person").overview()))
    assert "[bold]red[/bold]" in text
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_change_is_shown_and_the_passing_of_time_is_none(shop: Shop) -> None:
    look = _changed(shop.session("person").overview)
    shop.session("ann").acquire("x:1")
    first = look()
    shop.clock.advance(1)
    assert look() is first
    shop.session("ann").acquire("x:2")
    assert len(look().agents[0].holds) == 2
