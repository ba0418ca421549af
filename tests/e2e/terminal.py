"""A person at a terminal: a program on a real PTY, whose keys, size and end a test controls."""

import os
import select
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_SECONDS, until

PIECE_BYTES = 512
_ENTER = 'exec "$@" <"$0" >"$0" 2>&1'
Settings = list[Any]


class Person:
    """A program that was started at a terminal of its own, as from a shell there."""

    def __init__(self, words: tuple[str, ...], cwd: Path, rows: int, columns: int, **environment: str) -> None:
        self.master, self.slave = os.openpty()
        self.resize(rows, columns)
        self.before = self.settings()
        self.printed = b""
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", _ENTER, os.ttyname(self.slave), *words],
            cwd=cwd,
            env={**os.environ, "TERM": "xterm", **environment},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def settings(self) -> Settings:
        return termios.tcgetattr(self.slave)

    def resize(self, rows: int, columns: int) -> None:
        termios.tcsetwinsize(self.master, (rows, columns))

    def types(self, text: str) -> None:
        """Press keys: as fast as the terminal takes them, while its output is not read."""
        left = text.encode()
        while left:
            until(lambda: select.select([], [self.master], [], 0.1)[1], what="the terminal takes keys")
            left = left[os.write(self.master, left[:PIECE_BYTES]) :]

    def read(self) -> bool:
        """Read what was printed since; return whether it was anything."""
        ready, _, _ = select.select([self.master], [], [], 0.01)
        if ready:
            self.printed += os.read(self.master, 65_536)
        return bool(ready)

    def sees(self, text: str) -> None:
        """Wait until it has printed a text. What was printed before that is forgotten."""

        def found() -> bool:
            self.read()
            return text.encode() in self.printed

        try:
            until(found, what=f"the terminal shows {text!r}")
        except AssertionError as fault:
            fault.add_note(self.printed.decode(errors="replace"))
            raise
        self.printed = self.printed.partition(text.encode())[2]

    def ended(self) -> int:
        """Wait for the end of the program; return its exit status. Its output is read: a full terminal blocks it."""
        until(lambda: not self.read() and self.process.poll() is not None, what="the program ends")
        return self.process.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        """Close the terminal, as one closes a window."""
        for each in (self.slave, self.master):
            if each >= 0:
                os.close(each)
        self.slave = self.master = -1


@contextmanager
def at_terminal(*words: str, cwd: Path, rows: int = 24, columns: int = 80, **environment: str) -> Iterator[Person]:
    """Yield a person who has called `commonhold` with these words."""
    person = Person((sys.executable, "-m", "commonhold", *words), cwd, rows, columns, **environment)
    try:
        yield person
    finally:
        person.process.kill()
        person.process.wait()
        person.close()
