"""Writing to people and to programs. Texts of others never reach a terminal unescaped."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar

from commonhold.kernel.errors import StoreError

if TYPE_CHECKING:
    from commonhold.cli.common_options import Given

T = TypeVar("T")
MOST_NAMED: Final = 5
_SILENT_SECONDS: Final = 2.0
_UNPRINTABLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def shown(text: str, keep: str = "") -> str:
    """The text with every character that could steer a terminal, or hide from the eye, written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in keep or not _is_unprintable(char) else _escape(char) for char in text)


def shown_text(text: str) -> str:
    """The same for text of several lines."""
    return shown(text, keep="\n\t")


def _is_unprintable(char: str) -> bool:
    return unicodedata.category(char) in _UNPRINTABLE


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "backslashreplace").decode("ascii")


def some(texts: Sequence[str], separator: str = ", ") -> str:
    """The first few, safe to show, and how many more there are."""
    more = len(texts) - MOST_NAMED
    named = separator.join(map(shown, texts[:MOST_NAMED]))
    return f"{named} and {more} more" if more > 0 else named


def say(lines: str | Iterable[str]) -> None:
    """Print lines that are safe to show."""
    _write(sys.stdout, lines)


def complain(lines: str | Iterable[str]) -> None:
    """Print lines to standard error."""
    _write(sys.stderr, lines)


@contextmanager
def announced(given: Given, seconds: float, text: str) -> Iterator[Callable[[], None]]:
    """Say on standard error that the block waits, once it has done so for two seconds: silence looks like a hang.

    Nothing is said about a wait of at most two `seconds`, and nothing with --json. Yields a call that ends the wait.
    """
    import threading  # noqa: PLC0415 - loaded here: few commands wait

    timer = threading.Timer(_SILENT_SECONDS, complain, (text,))
    timer.daemon = True
    if seconds > _SILENT_SECONDS and not given.as_json:
        timer.start()
    try:
        yield timer.cancel
    finally:
        timer.cancel()


def _write(stream: TextIO | None, lines: str | Iterable[str]) -> None:
    # Python has no stream if the caller closed it.
    if stream is None:
        return
    paint = _painting(stream)
    with _written():
        stream.write("".join(f"{paint(line)}\n" for line in ([lines] if isinstance(lines, str) else lines)))


def _painting(stream: TextIO) -> Callable[[str], str]:
    """The function that colours a line for this stream."""
    if not (stream.isatty() or os.environ.get("FORCE_COLOR")):
        return str
    # Loaded here: output for programs has no colours.
    from commonhold.cli import colours  # noqa: PLC0415

    return colours.painted if colours.are_wanted(stream) else str


def send(data: bytes) -> None:
    """Write bytes to standard output exactly as they are."""
    if sys.stdout is None:
        return
    with _written():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def send_text(text: str) -> None:
    """Write terminal control sequences as they are."""
    if sys.stdout is not None:
        with _written():
            sys.stdout.write(text)


def send_json(shape: Mapping[str, Any], *, indent: int = 2) -> None:
    """Print an answer as JSON, in UTF-8 whatever the terminal speaks; without indent on one line."""
    # Loaded here: help needs no JSON.
    from commonhold.api.wire.text import dumps  # noqa: PLC0415

    send(dumps(shape, indent=indent).encode() + b"\n")


def answer(
    given: Given,
    value: T,
    shape: Callable[[T], Mapping[str, Any]],
    describe: Callable[[T], str | Iterable[str]],
) -> None:
    """Print the outcome of a command: its shape for programs, or its description for people."""
    if given.as_json:
        send_json(shape(value))
    else:
        say(describe(value))


def flush() -> None:
    """See to it that all that was printed has gone out."""
    if sys.stdout is not None:
        with _written():
            sys.stdout.flush()


class OutputLostError(StoreError):
    """The answer itself could not be written."""


@contextmanager
def _written() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise lost(fault) from fault


def lost(fault: OSError) -> OutputLostError:
    """The error for an answer that could not be written."""
    # Loaded here: output seldom fails.
    from commonhold.machine.os_errors import code_of  # noqa: PLC0415

    return OutputLostError(
        code_of(fault),
        f"the answer could not be written to standard output: {fault.strerror}",
        hint="the command may have taken effect all the same: see `commonhold log`",
    )


def abandon_output() -> None:
    """Suppress all further output, even by the interpreter as it ends: there is no reader."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            os.dup2(nowhere, stream.fileno())


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()
