"""Show something repeatedly: in place on a terminal, below each other elsewhere, as JSON line by line."""

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from commonhold.cli import colours
from commonhold.cli.common_options import Given
from commonhold.cli.describe import stamp
from commonhold.cli.output import flush, is_terminal, say, send, send_text

T = TypeVar("T")
_SECONDS: Final = 1.0
_HOME, _CLEAR, _END_OF_LINE, _BELOW = "\x1b[H", "\x1b[2J", "\x1b[K", "\x1b[J"
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_ELLIPSIS: Final = "…"


def watched(
    given: Given,
    look: Callable[[], T],
    shape: Callable[[T], Mapping[str, Any]],
    describe: Callable[[T], Iterable[str]],
) -> None:
    """Show the result of `look` once a second until Ctrl-C, which is the normal way out."""
    try:
        if given.as_json:
            _as_json(look, shape)
        elif is_terminal() and not colours.is_plain():
            _in_place(look, describe)
        else:
            _below_each_other(look, describe)
    except KeyboardInterrupt:
        flush()


def _as_json(look: Callable[[], T], shape: Callable[[T], Mapping[str, Any]]) -> None:
    # Loaded here: the words need none.
    from commonhold.api.wire.text import dumps  # noqa: PLC0415

    said = ""
    while True:
        text = dumps(shape(look()), indent=0)
        if text != said:
            send(text.encode() + b"\n")
            flush()
        said = text
        time.sleep(_SECONDS)


def _below_each_other(look: Callable[[], T], describe: Callable[[T], Iterable[str]]) -> None:
    """Print the changes; the passing of time alone is none."""
    seen: T | None = None
    while True:
        found = look()
        if found != seen:
            say([f"{stamp(time.time())}:", *(f"  {line}" for line in describe(found))])
            flush()
        seen = found
        time.sleep(_SECONDS)


def _in_place(look: Callable[[], T], describe: Callable[[T], Iterable[str]]) -> None:
    with in_place("Ctrl-C ends this", "commonhold status") as draw:
        while True:
            draw(list(describe(look())))
            time.sleep(_SECONDS)


@contextmanager
def in_place(way_out: str, whole: str) -> Iterator[Callable[[list[str]], None]]:
    """Yield a function that draws lines over those before. `way_out` says how to end it, `whole` shows all lines."""

    def draw(lines: list[str]) -> None:
        send_text(_HOME + _screen(lines, way_out, whole) + _BELOW)
        flush()

    send_text(_HIDE + _CLEAR)
    try:
        yield draw
    finally:
        send_text(f"{_SHOW}\n")


def _screen(lines: list[str], way_out: str, whole: str) -> str:
    """As many of the lines as the terminal holds, each cut to its width, and a last one that says how to end it."""
    columns, rows = shutil.get_terminal_size()
    last = f"{time.strftime('%H:%M:%S')}  {way_out}"
    if len(lines) > rows - 1:
        last = f"{len(lines) - rows + 2} more lines below: {whole}  ({last})"
        lines = lines[: rows - 2]
    paint = colours.painted if colours.are_wanted(sys.stdout) else str
    shown = [paint(_cut(line, columns)) for line in lines]
    return "".join(f"{line}{_END_OF_LINE}\n" for line in shown) + _cut(last, columns) + _END_OF_LINE


def _cut(line: str, columns: int) -> str:
    return line if len(line) < columns else line[: columns - 2] + _ELLIPSIS
