"""The log of an attempt as a recording that terminal players show: asciicast, version 3."""

import codecs
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec

from commonhold.agents.headless_events import EventParser
from commonhold.cli.agent_event_words import Conversation
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.managed_session import ManagedSession

TERMINAL: Final = {"cols": 120, "rows": 40}
IDLE_SECONDS: Final = 3.0
"""Players show no longer pause than this: agents think for minutes."""


@dataclass(frozen=True, slots=True)
class LogTimes:
    """When the log grew: at each Unix time it had so many bytes; both grow."""

    at: tuple[float, ...] = ()
    sizes: tuple[int, ...] = ()

    @classmethod
    def read(cls, place: Path) -> "LogTimes":
        """Return the times that a file has; none if it is not there. Lines of another form are left out."""
        at: list[float] = []
        sizes: list[int] = []
        with suppress(OSError):
            for line in place.read_text(encoding="ascii", errors="replace").splitlines():
                with suppress(ValueError):
                    time, size = line.split()
                    if int(size) > (sizes[-1] if sizes else 0):
                        at.append(max(float(time), at[-1] if at else 0.0))
                        sizes.append(int(size))
        return cls(tuple(at), tuple(sizes))

    def after(self, size: int) -> float:
        """Return the time at which the log had this many bytes; 0 if no time is known."""
        return self.at[min(bisect_left(self.sizes, size), len(self.at) - 1)] if self.at else 0.0

    def parts(self, offset: int, piece: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the parts of a piece of the log that were printed at different times, each with the offset after it."""
        end = offset + len(piece)
        first = bisect_left(self.sizes, offset + 1)
        last = bisect_left(self.sizes, end)
        begin = offset
        for size in (*self.sizes[first:last], end):
            yield size, piece[begin - offset : size - offset]
            begin = size


Texts = Iterable[tuple[int, str]]
"""The texts of a recording, each with the offset in the log after it."""


def as_printed(times: LogTimes, pieces: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, str]]:
    """Yield the log as its commands printed it, as a terminal needs it."""
    decoder, was_return = codecs.getincrementaldecoder("utf-8")("replace"), False
    for offset, piece in pieces:
        for end, part in times.parts(offset, piece):
            text = decoder.decode(part)
            # A terminal starts a new line at its first column only after a carriage return.
            shown = text.replace("\r\n", "\n").replace("\n", "\r\n")
            yield end, shown[1:] if was_return and text.startswith("\n") else shown
            was_return = text.endswith("\r") if text else was_return


def as_conversation(agent: str, pieces: Iterable[tuple[int, bytes]], offset: int) -> Iterator[tuple[int, str]]:
    """Yield the log as the events of its agent."""
    parser, conversation, end = EventParser(agent, offset), Conversation(), offset
    for at, piece in pieces:
        end = at + len(piece)
        for event in parser.feed(piece):
            yield from ((event.next_at, _line(each)) for each in conversation.lines([event]))
    for line in (*conversation.lines(parser.finish()), *conversation.rest()):
        yield end, _line(line)


def _line(text: str) -> str:
    return text.replace("\n", "\r\n") + "\r\n"


def record(place: str, session: ManagedSession, began_at: float, times: LogTimes, texts: Texts) -> None:
    """Write the recording to a new file. Raises InputError `FILE_EXISTS`, `IO_FAILED`."""
    begin = times.at[0] if times.at else began_at
    header = {
        "version": 3,
        "term": TERMINAL,
        "timestamp": int(begin),
        "idle_time_limit": IDLE_SECONDS,
        "title": f"{session.id}: {session.title}",
    }
    fields = {"path": place}
    try:
        with Path(place).open("xb") as file:
            file.writelines(
                msgspec.json.encode(each) + b"\n" for each in chain((header,), _events(begin, times, texts))
            )
    except FileExistsError as fault:
        why = f"there is a file {place!r} already, and no recording replaces one"
        raise InputError(Code.FILE_EXISTS, why, hint="name another file", fields=fields) from fault
    except OSError as fault:
        why = f"the recording could not be written to {place!r}: {fault.strerror}"
        hint = "name a file in a folder that exists and has space"
        raise InputError(Code.IO_FAILED, why, hint=hint, fields=fields) from fault


def _events(begin: float, times: LogTimes, texts: Texts) -> Iterator[list[Any]]:
    before = begin
    for end, text in texts:
        if text:
            at = times.after(end) if times.at else before
            yield [round(max(0.0, at - before), 3), "o", text]
            before = max(before, at)
