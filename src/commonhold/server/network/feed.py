"""The events of the log, as they become durable, for any number of watchers.

One task follows the log and keeps the newest events ready to send. A watcher asks for those after its cursor, and gets
them from there, or, if it is further behind, from the log. So a watcher costs the log nothing while it keeps up, and a
slow one holds no memory.
"""

import asyncio
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
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
PART_BYTES: Final = 256_000
"""Events are sent in parts of about this size."""
CHECK_SECONDS: Final = 5.0
"""After so long without events all watchers are woken: a timer for each wait of each watcher would cost more."""
_log: Final = Log(__name__)

ReadLog = Callable[[int, int], Sequence[Recorded]]
"""Returns events after a sequence, at most so many. Raises CommonholdError."""


@dataclass(frozen=True, slots=True)
class Frame:
    """An event, ready to send: as JSON, and as an event of a text/event-stream."""

    sequence: int
    json: bytes
    sse: bytes


class Part:
    """Some events in order, joined once for all watchers that get the same."""

    def __init__(self, frames: Sequence[Frame]) -> None:
        """Join `frames`, of which there is at least one."""
        self.frames = frames
        self.first: Final = frames[0].sequence
        self.last: Final = frames[-1].sequence

    @cached_property
    def message(self) -> str:
        """The events as a message of a WebSocket."""
        return (b'{"type":"events","events":[%s]}' % b",".join(each.json for each in self.frames)).decode()

    @cached_property
    def sse(self) -> bytes:
        """The events of a text/event-stream."""
        return b"".join(each.sse for each in self.frames)


def parts_of(frames: Sequence[Frame]) -> Sequence[Part]:
    """Return events in parts that are small enough to send."""
    found: list[list[Frame]] = []
    size = PART_BYTES
    for each in frames:
        if size >= PART_BYTES:
            found.append([])
            size = 0
        found[-1].append(each)
        size += len(each.sse)
    return [Part(each) for each in found]


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
        self._shared: tuple[int, Sequence[Part]] = 0, ()
        self._woken_at = 0.0
        self._beats = 0
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
            self._woken_at = time.monotonic()
            self._follower = asyncio.ensure_future(self._follow())

    def leave(self) -> None:
        """Count one watcher less; after the last, keep nothing."""
        self._watchers -= 1
        if self._watchers == 0 and self._follower is not None:
            self._follower.cancel()
            self._follower = None
            self._ready, self._bytes, self._shared = [], 0, (0, ())

    def close(self) -> None:
        """Wake all watchers: nothing comes any more."""
        self.is_closed = True
        self._changed.set()

    async def after(self, cursor: int) -> Sequence[Part]:
        """Wait for events after `cursor`, and return the next ones; none if none came lately, or the feed is closed.

        Raises CommonholdError if the log cannot be read.
        """
        beats = self._beats
        while not self.is_closed and beats == self._beats:
            if cursor < self._newest:
                if self._ready and self._ready[0].sequence <= cursor + 1:
                    return self._parts_after(cursor)
                frames = [each for each in await self._from_log(cursor) if each.sequence <= self._newest]
                if frames:
                    return parts_of(frames)
            await self._changed.wait()
        return ()

    def _parts_after(self, cursor: int) -> Sequence[Part]:
        """Return the next events out of those that are ready: the same parts to all that have come as far."""
        shared_after, found = self._shared
        if not found or shared_after != cursor:
            start = bisect_right(self._ready, cursor, key=lambda each: each.sequence)
            found = parts_of(self._ready[start : start + BATCH])
            self._shared = cursor, found
        return found

    async def _from_log(self, cursor: int) -> Sequence[Frame]:
        return await beside(partial(self._frames, cursor))

    def _frames(self, cursor: int) -> Sequence[Frame]:
        return [frame_of(each) for each in self._read(cursor, BATCH)]

    async def _follow(self) -> None:
        while not self.is_closed:
            pause = pause_for(self._watchers)
            await asyncio.sleep(pause)
            newest = self._newest_durable()
            if time.monotonic() - self._woken_at > CHECK_SECONDS - pause:
                self._beats += 1
                self._wake()
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
        self._shared = 0, ()
        self._wake()

    def _wake(self) -> None:
        self._woken_at = time.monotonic()
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
