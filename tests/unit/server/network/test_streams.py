"""Streams have every event once and in order, whatever their clients and the log do."""

import asyncio
import json
from collections.abc import Callable, Coroutine, MutableMapping, Sequence
from typing import Any

import pytest

from commonhold.kernel.errors import Code, CommonholdError, StoreError
from commonhold.kernel.events import LeaseReleased, Recorded
from commonhold.kernel.scopes import Scope
from commonhold.server.asgi import ABORT
from commonhold.server.network import feed as feeds
from commonhold.server.network import streams
from commonhold.server.network.access import Access
from commonhold.server.network.feed import Feed, Frame, Part, frame_of
from commonhold.server.network.streams import Streams

Message = MutableMapping[str, Any]
OBSERVER = Access(Scope.OBSERVER)


class Log:
    """A log in memory, whose events can be recorded, become durable, and be dropped."""

    def __init__(self, count: int = 0, text: str = "ann") -> None:
        self.events: list[Recorded] = []
        self.durable = 0
        self.reads = 0
        self.fault: CommonholdError | None = None
        self.text = text
        self.add(count)

    def add(self, count: int) -> None:
        first = self.events[-1].sequence if self.events else 0
        self.events += [
            Recorded(first + each, 1.0, LeaseReleased(self.text, f"l{first + each}")) for each in range(1, count + 1)
        ]
        self.durable = first + count

    def read(self, after: int, limit: int) -> Sequence[Recorded]:
        self.reads += 1
        if self.fault is not None:
            raise self.fault
        return [each for each in self.events if each.sequence > after][:limit]

    def feed(self) -> Feed:
        return Feed(self.read, lambda: self.durable)


class Watcher:
    """A client that takes what it is sent, unless it is blocked; `cursor` is the last event that it has."""

    def __init__(self, feed: Feed, query: str = "", access: Access = OBSERVER, **headers: str) -> None:
        self.events: list[int] = []
        self.other: list[tuple[str, Any]] = []
        self.signs_of_life = 0
        self.may_take = asyncio.Event()
        self.may_take.set()
        self.is_gone = asyncio.Event()
        self.is_cut_off = False
        pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        self.scope = {"type": "http", "query_string": query.encode(), "headers": pairs, ABORT: self._abort}
        self.task = asyncio.ensure_future(Streams(feed).sse(self.scope, self._receive, self._send, access))

    def _abort(self) -> None:
        self.is_cut_off = True

    async def _receive(self) -> Message:
        await self.is_gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        await self.may_take.wait()
        for block in message.get("body", b"").decode().split("\n\n"):
            fields = dict(line.partition(": ")[::2] for line in block.splitlines() if not line.startswith(":"))
            if "id" in fields:
                assert json.loads(fields["data"])["sequence"] == int(fields["id"])
                self.events.append(int(fields["id"]))
            elif block == ": nothing new":
                self.signs_of_life += 1
            elif fields:
                self.other.append((fields["event"], json.loads(fields["data"])))

    async def until(self, is_so: Callable[[], object]) -> None:
        async with asyncio.timeout(30):
            while not is_so():  # noqa: ASYNC110 - any condition
                await asyncio.sleep(0.005)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "INTERVAL_SECONDS", 0.005)


def play(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


def test_a_watcher_gets_what_was_and_then_what_comes() -> None:
    async def story() -> None:
        log = Log(500)
        watcher = Watcher(log.feed(), "after=0")
        for _ in range(20):
            log.add(50)
            await asyncio.sleep(0.003)
        await watcher.until(lambda: len(watcher.events) == 1500)
        assert watcher.events == list(range(1, 1501))
        assert watcher.other[0][0] == "hello"

    play(story)


def test_it_begins_where_it_is_asked_to() -> None:
    async def story() -> None:
        log = Log(10)
        feed = log.feed()
        watchers = [Watcher(feed), Watcher(feed, "after=7"), Watcher(feed, "after=2", last_event_id="9")]
        await asyncio.sleep(0.05)
        log.add(1)
        for watcher in watchers:
            await watcher.until(lambda watcher=watcher: watcher.events[-1:] == [11])  # type: ignore[misc]
        assert [each.events for each in watchers] == [[11], [8, 9, 10, 11], [10, 11]]

    play(story)


def test_a_stream_ends_if_its_client_goes_just_as_events_come(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        coming: asyncio.Future[Sequence[Part]] = asyncio.get_running_loop().create_future()
        asked: list[int] = []

        async def after(_: Feed, cursor: int) -> Sequence[Part]:
            asked.append(cursor)
            return await (coming if len(asked) == 1 else asyncio.Event().wait())  # type: ignore[return-value]

        monkeypatch.setattr(Feed, "after", after)
        log = Log(1)
        watcher = Watcher(log.feed(), "after=0")
        await watcher.until(lambda: asked)
        coming.set_result([Part([frame_of(log.events[0])])])
        watcher.task.cancel()
        await asyncio.wait([watcher.task], timeout=30)
        assert watcher.task.done()

    play(story)


def test_it_goes_on_from_its_cursor_whenever_it_is_cut_off() -> None:
    async def story() -> None:
        log, taken, cursor = Log(1000), [], 0
        feed = log.feed()
        for _ in range(40):
            watcher = Watcher(feed, f"after={cursor}")
            log.add(25)
            await watcher.until(lambda watcher=watcher: len(watcher.events) > 0)  # type: ignore[misc]
            watcher.is_gone.set()
            await watcher.task
            taken += watcher.events
            cursor = taken[-1]
        last = Watcher(feed, f"after={cursor}")
        await last.until(lambda: cursor + len(last.events) == 2000)
        assert taken + last.events == list(range(1, 2001))
        await last.until(lambda: feed.watchers == 1)

    play(story)


def test_events_that_are_gone_are_an_explicit_gap() -> None:
    async def story() -> None:
        log = Log(100)
        del log.events[:40]
        watcher = Watcher(log.feed(), "after=10")
        await watcher.until(lambda: len(watcher.events) == 60)
        assert watcher.other[1:] == [("gap", {"first": 11, "last": 40})]
        assert watcher.events == list(range(41, 101))

    play(story)


def test_an_event_that_is_not_durable_is_not_shown() -> None:
    async def story() -> None:
        log = Log(10)
        watcher = Watcher(log.feed(), "after=0")
        await watcher.until(lambda: watcher.events == list(range(1, 11)))
        log.add(5)
        log.durable = 12
        await watcher.until(lambda: watcher.events[-1] == 12)
        await asyncio.sleep(0.05)
        assert watcher.events[-1] == 12

    play(story)


@pytest.mark.parametrize(
    ("query", "code"), [("after=11", Code.CURSOR_UNKNOWN), ("after=x", Code.USAGE), ("lease_id=lease-1", Code.USAGE)]
)
def test_a_cursor_that_is_none_is_refused_with_the_reason(query: str, code: Code) -> None:
    async def story() -> None:
        with pytest.raises(CommonholdError) as fault:
            await Watcher(Log(10).feed(), query).task
        assert fault.value.code is code
        assert fault.value.hint

    play(story)


def test_a_cursor_of_an_event_that_is_not_durable_yet_is_known() -> None:
    async def story() -> None:
        log = Log(10)
        log.durable = 8
        feed = log.feed()
        feed.check(10)
        with pytest.raises(CommonholdError):
            feed.check(11)

    play(story)


def test_a_watcher_that_takes_nothing_is_cut_off_and_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "SLOW_SECONDS", 0.2)

    async def story() -> None:
        log = Log(10)
        feed = log.feed()
        slow, quick = Watcher(feed, "after=0"), Watcher(feed, "after=0")
        await slow.until(lambda: slow.events == quick.events == list(range(1, 11)))
        slow.may_take.clear()
        log.add(1000)
        await quick.until(lambda: len(quick.events) == 1010)
        await slow.task
        assert slow.is_cut_off
        assert slow.events == list(range(1, 11)), "nothing was left out before"
        again = Watcher(feed, f"after={slow.events[-1]}")
        await again.until(lambda: len(again.events) == 1000)
        assert again.events == list(range(11, 1011))

    play(story)


def test_many_watchers_read_the_log_no_more_often_than_one() -> None:
    async def story(count: int) -> int:
        log = Log(1)
        feed = log.feed()
        watchers = [Watcher(feed) for _ in range(count)]
        await asyncio.sleep(0.05)
        for _ in range(20):
            log.add(10)
            await watchers[0].until(lambda: all(each.events[-1:] == [log.durable] for each in watchers))
        assert all(each.events == list(range(2, 202)) for each in watchers)
        return log.reads

    assert asyncio.run(story(100)) <= 2 * asyncio.run(story(1))


def test_what_is_kept_ready_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MOST_BYTES", 20_000)

    async def story() -> None:
        log = Log(0, text="x" * 500)
        feed = log.feed()
        watcher = Watcher(feed)
        await asyncio.sleep(0.05)
        for _ in range(20):
            log.add(100)
            await watcher.until(lambda: watcher.events[-1:] == [log.durable])
        assert sum(len(each.sse) for each in feed._ready) <= 20_000
        assert watcher.events == list(range(1, 2001))

    play(story)


def test_the_end_of_the_server_is_told_and_can_be_retried() -> None:
    async def story() -> None:
        log = Log(3)
        feed = log.feed()
        watcher = Watcher(feed, "after=0")
        await watcher.until(lambda: watcher.events == [1, 2, 3])
        feed.close()
        await watcher.task
        kind, error = watcher.other[-1]
        assert (kind, error["code"], error["retryable"]) == ("end", "STORE_BUSY", True)

    play(story)


def test_a_log_that_cannot_be_read_ends_the_stream_with_the_reason() -> None:
    async def story() -> None:
        log = Log(3)
        log.fault = StoreError(Code.STORE_BUSY, "busy", hint="later", retry_after_seconds=1.0)
        watcher = Watcher(log.feed(), "after=0")
        await watcher.task
        assert [kind for kind, _ in watcher.other] == ["hello", "end"]
        assert watcher.other[-1][1]["message"] == "busy"

    play(story)


def test_a_stream_ends_once_its_token_is_revoked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHECK_SECONDS", 0.02)

    async def story() -> None:
        rights = [True]
        log = Log(3)
        watcher = Watcher(log.feed(), "after=0", Access(Scope.OBSERVER, is_valid=lambda: rights[0]))
        await watcher.until(lambda: watcher.events == [1, 2, 3])
        await asyncio.sleep(0.1)
        assert not watcher.task.done()
        rights[0] = False
        await watcher.task
        assert watcher.other[-1][1]["code"] == "TOKEN_INVALID"

    play(story)


def test_a_quiet_stream_shows_that_it_lives_and_ends_once_its_token_is_revoked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "CHECK_SECONDS", 0.02)

    async def story() -> None:
        rights = [True]
        watcher = Watcher(Log(3).feed(), "after=3", Access(Scope.OBSERVER, is_valid=lambda: rights[0]))
        await watcher.until(lambda: watcher.signs_of_life >= 2)
        rights[0] = False  # long before a check is due by the clock: each sign of life comes with one
        await watcher.until(watcher.task.done)
        assert watcher.other[-1][1]["code"] == "TOKEN_INVALID"
        assert watcher.events == []

    play(story)


def test_events_are_joined_once_for_all_watchers_that_have_come_as_far(monkeypatch: pytest.MonkeyPatch) -> None:
    joined: list[tuple[int, int]] = []

    class Counted(feeds.Part):
        def __init__(self, frames: Sequence[Frame]) -> None:
            super().__init__(frames)
            joined.append((self.first, self.last))

    monkeypatch.setattr(feeds, "Part", Counted)

    async def story() -> None:
        log = Log(3)
        feed = log.feed()
        watchers = [Watcher(feed) for _ in range(50)]
        await watchers[0].until(lambda: all(each.other for each in watchers))
        log.add(5)
        await watchers[0].until(lambda: all(each.events == [4, 5, 6, 7, 8] for each in watchers))
        assert joined == [(4, 8)]

    play(story)


def test_a_part_says_the_same_in_both_forms() -> None:
    frames = [frame_of(each) for each in Log(3).events]
    part = Part(frames)
    told = json.loads(part.message)
    assert told == {"type": "events", "events": [json.loads(each.json) for each in frames]}
    assert part.sse == b"".join(each.sse for each in frames)


def test_there_is_a_limit_of_watchers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST_WATCHERS", 1)

    async def story() -> None:
        feed = Log(1).feed()
        first = Watcher(feed, "after=0")
        await first.until(lambda: first.events)
        with pytest.raises(CommonholdError) as fault:
            await Watcher(feed).task
        assert fault.value.retryable
        first.is_gone.set()
        await first.task
        assert feed.watchers == 0

    play(story)


def test_the_log_is_looked_at_less_often_for_many_watchers() -> None:
    assert feeds.pause_for(1) == feeds.pause_for(100) == feeds.INTERVAL_SECONDS
    assert feeds.pause_for(400) == 4 * feeds.INTERVAL_SECONDS
