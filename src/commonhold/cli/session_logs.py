"""`commonhold session logs`: the output of an attempt, from any place on, and as it grows."""

import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE
from commonhold.cli.opening import Place, opened
from commonhold.cli.output import complain, flush, say, send, send_json, shown
from commonhold.config import load_settings
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.managed_session import EndCause, SessionState
from commonhold.session_host.attempt_logs import open_log, size_of, times_of
from commonhold.session_host.session_files import SessionFiles
from commonhold.sessions.answers import ManagedSessionView
from commonhold.workspace.repository import find_repository

if TYPE_CHECKING:
    from commonhold.agents.headless_events import AgentEvent

CHUNK_BYTES: Final = 65_536
FOLLOW_SECONDS: Final = 0.05
STATE_SECONDS: Final = 0.5
_LATER_BYTE, _FIRST_OF_SEVERAL, _FIRST_OF_THREE, _FIRST_OF_FOUR = 0x80, 0xC0, 0xE0, 0xF0
"""The lowest bytes of each kind in UTF-8."""
_CURSOR: Final = re.compile(r"([0-9]{1,18}):([0-9]{1,18})")


@click.command(
    "logs",
    cls=Command,
    examples=(
        "commonhold session logs s12",
        "commonhold session logs -f s12",
        "commonhold session logs -f s12 --events",
        "commonhold session logs s12 --from 1:0",
        "commonhold session logs s12 --events --cast s12.cast",
    ),
)
@click.argument("session")
@click.option("-f", "--follow", is_flag=True, help="Go on until the session does not run any more.")
@click.option(
    "--from",
    "cursor",
    metavar="ATTEMPT:OFFSET",
    help="Begin at this byte of this attempt; default: the begin of the last attempt.",
)
@click.option("--events", "as_events", is_flag=True, help="A known agent's messages, tools, errors and usage, to read.")
@click.option("--cast", "recording", metavar="FILE", shell_complete=files, help="Write a recording (asciicast 3) here.")
@common
@click.pass_obj
def logs(
    given: Given, *, session: str, follow: bool, cursor: str | None, as_events: bool, recording: str | None
) -> int:
    """Print all that the commands of SESSION's last attempt have printed, byte for byte.

    With --json each line is an object with its `cursor` (`attempt:offset`), its `text`, and `next`, the cursor to go
    on from: a reader that was interrupted passes it to --from. With --events --json each line is an event. --cast
    writes a recording for players of terminals, such as asciinema, of all output or of the --events.
    """
    if recording and (follow or given.as_json):
        hint = "leave --follow and --json out"
        raise UsageError(Code.USAGE, "--cast excludes --follow and --json: it writes a file, once", hint=hint)
    with opened(given) as place:
        (view,) = place.hold.managed_sessions(session).sessions
        while follow and view.record.attempt == 0 and view.record.state is SessionState.QUEUED:
            time.sleep(STATE_SECONDS)
            (view,) = place.hold.managed_sessions(session).sessions
        attempt, offset = _cursor(cursor, view)
        pieces = _pieces(place, view, attempt, offset, is_followed=follow)
        if recording:
            _record(recording, place, view, attempt, offset, pieces, as_events=as_events)
            return DONE
        has_printed = False
        output = _Events(given, view, attempt, offset) if as_events else _Bytes(given, attempt)
        for at, piece in pieces:
            output.print(at, piece)
            flush()
            has_printed = True
        output.end()
        if not (has_printed or offset or given.as_json):
            (view,) = place.hold.managed_sessions(session).sessions
            complain(f"notice: {_why_empty(view, attempt)}")
    return DONE


def _record(
    recording: str,
    place: Place,
    view: ManagedSessionView,
    attempt: int,
    offset: int,
    pieces: Iterator[tuple[int, bytes]],
    *,
    as_events: bool,
) -> None:
    # Loaded here: few logs are recorded.
    from commonhold.cli.session_cast import LogTimes, as_conversation, as_printed, record  # noqa: PLC0415

    session = view.record.session
    times = LogTimes.read(times_of(_log(place, view, attempt)))
    began_at = next((each.began_at for each in view.record.attempts if each.number == attempt), view.record.started_at)
    texts = as_conversation(session.agent, pieces, offset) if as_events else as_printed(times, pieces)
    record(recording, session, began_at, times, texts)


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Prints the log as it is."""

    given: Given
    attempt: int

    def print(self, at: int, piece: bytes) -> None:
        if self.given.as_json:
            text = piece.decode("utf-8", "backslashreplace")
            next_cursor = f"{self.attempt}:{at + len(piece)}"
            send_json({"cursor": f"{self.attempt}:{at}", "text": text, "next": next_cursor}, indent=0)
        else:
            send(piece)

    def end(self) -> None:
        pass


class _Events:
    """Prints the log as the events of its agent."""

    def __init__(self, given: Given, view: ManagedSessionView, attempt: int, offset: int) -> None:
        # Loaded here: the log as it is needs none of it.
        from commonhold.agents.headless_events import EventParser  # noqa: PLC0415
        from commonhold.cli.agent_event_words import Conversation  # noqa: PLC0415

        self._given, self._attempt = given, attempt
        self._parser = EventParser(view.record.session.agent, offset)
        self._conversation = Conversation()

    def print(self, _: int, piece: bytes) -> None:
        self._send(self._parser.feed(piece))

    def end(self) -> None:
        self._send(self._parser.finish())
        say(self._conversation.rest())

    def _send(self, events: Sequence["AgentEvent"]) -> None:
        # Loaded here, as above.
        from commonhold.cli.agent_event_words import shape  # noqa: PLC0415

        if self._given.as_json:
            for event in events:
                send_json(shape(event, self._attempt), indent=0)
        else:
            say(self._conversation.lines(events))


def _why_empty(view: ManagedSessionView, attempt: int) -> str:
    """Say why the log of an attempt is empty."""
    record = view.record
    found = next((each for each in record.attempts if each.number == attempt), None)
    if found is None:
        return f"{shown(record.id)} has printed nothing: it has not begun yet"
    note = f": {shown(found.note)}" if found.note else ""
    begun = "could not begin" if found.cause is EndCause.NOT_STARTED else "has printed nothing"
    return f"attempt {attempt} of {shown(record.id)} {begun}{note}"


def _cursor(text: str | None, view: ManagedSessionView) -> tuple[int, int]:
    record = view.record
    if text is None:
        return record.attempt, 0
    match = _CURSOR.fullmatch(text)
    if match is None:
        raise UsageError(Code.USAGE, f"{text!r} is no cursor", hint="write ATTEMPT:OFFSET, such as 1:0")
    attempt = int(match[1])
    if not 1 <= attempt <= record.attempt:
        raise _unknown(view, f"{record.id} has {record.attempt} attempts, and the cursor names number {attempt}")
    return attempt, int(match[2])


def _unknown(view: ManagedSessionView, why: str) -> InputError:
    return InputError(Code.CURSOR_UNKNOWN, why, hint=f"commonhold session logs {view.record.id}")


def _pieces(
    place: Place, view: ManagedSessionView, attempt: int, offset: int, *, is_followed: bool
) -> Iterator[tuple[int, bytes]]:
    """Yield the log in pieces with their offsets. One that is followed ends with the attempt, after its last byte."""
    log = _log(place, view, attempt)
    size = size_of(log)
    if offset > size:
        raise _unknown(view, f"attempt {attempt} of {view.record.id} has printed {size} bytes, fewer than {offset}")
    asked_at, is_over = time.monotonic(), not is_followed
    while True:
        found = _read(log, offset)
        piece = _whole_characters(found) or (found if is_over else b"")
        if piece:
            yield offset, piece
            offset += len(piece)
        elif is_over:
            return
        else:
            time.sleep(FOLLOW_SECONDS)
            if time.monotonic() - asked_at >= STATE_SECONDS:
                asked_at = time.monotonic()
                (view,) = place.hold.managed_sessions(view.record.id).sessions
                is_over = view.record.attempt != attempt or view.record.state not in (
                    SessionState.QUEUED,
                    SessionState.RUNNING,
                    SessionState.PAUSED,
                )


def _read(log: Path, offset: int) -> bytes:
    file = open_log(log)
    if file is None:
        return b""
    with file:
        file.seek(offset)
        return file.read(CHUNK_BYTES)


def _whole_characters(piece: bytes) -> bytes:
    """Return the piece without the begin of a character of UTF-8 that goes on in the next one."""
    for length in range(1, min(4, len(piece) + 1)):
        byte = piece[-length]
        if byte >= _FIRST_OF_SEVERAL:
            needs = 2 if byte < _FIRST_OF_THREE else 3 if byte < _FIRST_OF_FOUR else 4
            return piece[:-length] if needs > length else piece
        if byte < _LATER_BYTE:
            return piece
    return piece


def _log(place: Place, view: ManagedSessionView, attempt: int) -> Path:
    repository = find_repository(place.hold.root)
    log = SessionFiles.of(repository, load_settings(repository.root)).log(view.record.id, attempt)
    places = (each.place for each in view.record.attempts if each.number == attempt and each.place)
    where = next(places, view.record.place)
    if not where:
        raise InputError(
            Code.FILE_NOT_FOUND,
            f"{view.record.id} has no log yet: it waits for a worker",
            hint=f"commonhold session show {view.record.id}",
        )
    if not where.endswith(f":{repository.state_folder}") or (attempt and not os.path.lexists(log.parent)):
        raise InputError(
            Code.FILE_NOT_FOUND,
            f"the log of {view.record.id} is kept at {where}",
            hint="repeat the command on that machine",
        )
    return log
