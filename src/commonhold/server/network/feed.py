"""The events of the log, as they become durable, for any number of watchers.

One task follows the log and keeps the newest events ready to send. A watcher asks for those after its cursor, and gets
them from there, or, if it is further behind, from the log. So a watcher costs the log nothing while it keeps up, and a
slow one holds no memory.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec

from commonhold.api.wire.http_calls import event_shape
from commonhold.kernel.errors import Code, CommonholdError, InputError
from commonhold.kernel.events import Recorded
from commonhold.machine.logs import Log
from commonhold.server.threads import beside

INTERVAL_SECONDS: Final = 0.05
"""How often the log is looked at while there are watchers: their events come in groups, so each costs little."""
WATCHERS_AT_ONCE: Final = 100
"""With more watchers it is looked at less often: to hand each of them a group takes time that all others wait for."""
BATCH: Final = 200
"""The most events that are read, or handed to a watcher, at once."""
MOST_BYTES: Final = 8_000_000
"""Events are kept ready up to this size."""
_log: Final = Log(__name__)

ReadLog = Callable[[int, int], Sequence[Recorded]]
"""Returns events after a sequence, at most so many. Raises CommonholdError."""


@dataclass(frozen=True, slots=True)
class Frame:
    """An event, ready to send: as JSON, and as an event of a text/event-stream."""

    sequence: int
    json: bytes
    sse: bytes


def frame_of(recorded: Recorded) -> Frame:
    """Return an event, ready to send."""
    shape = event_shape(recorded)
    data = msgspec.json.encode(shape)
    sse = b"id: %d\nevent: %s\ndata: %s\n\n" % (recorded.sequence, shape["kind"].encode(), data)
    return Frame(recorded.sequence, data, sse)


def pause_for(watchers: int) -> float:
    """Return the seconds from one look at the log to the next."""
    return INTERVAL_SECONDS * max(1.0, watchers / WATCHERS_AT_ONCE)


class Feed:
    """Gives watchers the events after their cursors; it belongs to one event loop."""

    def __init__(self, read: ReadLog, newest: Callable[[], int]) -> None:
        """Read the log with `read`, in threads; `newest` is the sequence of the newest durable event."""
        self._read = read
        self._newest_durable = newest
        self._newest = 0
        self._ready: list[Frame] = []
        self._bytes = 0
        self._changed = asyncio.Event()
        self._watchers = 0
        self._follower: asyncio.Task[None] | None = None
        self.is_closed = False

    @property
    def watchers(self) -> int:
        """How many watch now."""
        return self._watchers

    @property
    def newest(self) -> int:
        """The sequence of the newest durable event."""
        return max(self._newest, self._newest_durable())

    def check(self, cursor: int) -> None:
        """Raise InputError `CURSOR_UNKNOWN` for a cursor after the newest event, durable or not; may read the log."""
        if cursor > self.newest and not self._read(cursor - 1, 1):
            raise InputError(
                Code.CURSOR_UNKNOWN,
                f"the log ends at the event {self.newest}, before the cursor {cursor}",
                hint=f"read the present state, then follow the events from the cursor {self.newest}",
                fields={"newest": self.newest},
            )

    def join(self) -> None:
        """Count one more watcher; with the first, begin to follow the log."""
        self._watchers += 1
        if self._follower is None:
            self._newest = self._newest_durable()
            self._follower = asyncio.ensure_future(self._follow())

    def leave(self) -> None:
        """Count one watcher less; after the last, keep nothing."""
        self._watchers -= 1
        if self._watchers == 0 and self._follower is not None:
            self._follower.cancel()
            self._follower = None
            self._ready, self._bytes = [], 0

    def close(self) -> None:
        """Wake all watchers: nothing comes any more."""
        self.is_closed = True
        self._changed.set()

    async def after(self, cursor: int) -> Sequence[Frame]:
        """Wait for events after `cursor`, and return the next ones; none once the feed is closed.

        Raises CommonholdError if the log cannot be read.
        """
        while not self.is_closed:
            if cursor < self._newest:
                if self._ready and self._ready[0].sequence <= cursor + 1:
                    start = bisect_right(self._ready, cursor, key=lambda each: each.sequence)
                    return self._ready[start : start + BATCH]
                frames = [each for each in await self._from_log(cursor) if each.sequence <= self._newest]
                if frames:
                    return frames
            await self._changed.wait()
        return ()

    async def _from_log(self, cursor: int) -> Sequence[Frame]:
        return await beside(partial(self._frames, cursor))

    def _frames(self, cursor: int) -> Sequence[Frame]:
        return [frame_of(each) for each in self._read(cursor, BATCH)]

    async def _follow(self) -> None:
        while not self.is_closed:
            await asyncio.sleep(pause_for(self._watchers))
            newest = self._newest_durable()
            with suppress(CommonholdError):  # the state cannot be read for a while: the next look finds the same events
                while self._newest < newest:
                    self._add([each for each in await self._from_log(self._newest) if each.sequence <= newest], newest)

    def _add(self, frames: Sequence[Frame], newest: int) -> None:
        self._ready += frames
        self._bytes += sum(len(each.sse) for each in frames)
        while self._bytes > MOST_BYTES:
            dropped, self._ready = self._ready[:BATCH], self._ready[BATCH:]
            self._bytes -= sum(len(each.sse) for each in dropped)
        self._newest = frames[-1].sequence if frames else newest
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
