"""A session's command on a person's terminal: it runs on a terminal of its own, which is joined to that of the person.

All that it prints goes to the log first, byte for byte, and then to the person. A command changes the settings of its
own terminal only; the person's passes raw bytes on meanwhile, and gets its settings back in the end.
"""

import os
import pty
import select
import signal
import termios
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from commonhold.session_host.attempt_logs import append_to

LOOK_SECONDS: Final = 0.2
DRAIN_SECONDS: Final = 2.0
"""How long the last output is waited for: a process that is left alone may keep the terminal open."""
MOST_BYTES: Final = 65_536
_ENTER: Final = 'exec "$@" <"$0" >"$0" 2>&1'
"""The first process of a session that opens a terminal gets it as its own, with job control and Ctrl-C."""
_DEPARTING: Final = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_CLOSED: Final = "the terminal was closed"


class PersonTerminal:
    """The terminal of a person, as the standard input and output of this process.

    `restore` gives it back as it was. While it is `watched`, this process is not ended by Ctrl-C, SIGTERM or the end of
    the terminal: they are noted in `gone`, the reason for which the person must be regarded as gone, or empty.
    """

    def __init__(self, reading: int = 0, writing: int = 1) -> None:
        """Remember how it is set. Raises OSError if it is no terminal."""
        self.reading, self.writing = reading, writing
        self.gone = ""
        try:
            self._saved = termios.tcgetattr(reading)
        except termios.error as fault:
            raise OSError(*fault.args) from fault

    def restore(self) -> None:
        """Set it as it was, if it is still there."""
        with suppress(termios.error):
            termios.tcsetattr(self.reading, termios.TCSADRAIN, self._saved)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note in `gone` that this process is asked to end."""

        def depart(number: int, _: object) -> None:
            self.gone = _CLOSED if number == signal.SIGHUP else f"it was ended by {signal.Signals(number).name}"

        kept = {number: signal.signal(number, depart) for number in _DEPARTING}
        try:
            yield
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)

    def say(self, text: str) -> None:
        """Print a line, unless the person is gone."""
        with suppress(OSError):
            os.write(self.writing, f"{text}\n".encode())

    @contextmanager
    def joined(self, log: Path) -> "Iterator[CommandTerminal]":
        """Yield a terminal for a command, which prints to this one and to a log until the end of the block."""
        command = CommandTerminal(self, log, self._saved)
        with suppress(termios.error):  # the person's was closed just now
            tty.setraw(self.reading, termios.TCSADRAIN)
        kept = signal.signal(signal.SIGWINCH, command.resize)
        try:
            yield command
        finally:
            signal.signal(signal.SIGWINCH, kept)
            command.close()
            self.restore()


class CommandTerminal:
    """A terminal for one command; a thread copies between it and that of a person."""

    def __init__(self, person: PersonTerminal, log: Path, settings: list[Any]) -> None:
        """Open it, as large and with the same keys as the person's. Raises OSError."""
        self._person, self._log = person, log
        self._master, self._slave = pty.openpty()
        os.set_blocking(self._master, False)  # a command that does not read must not keep its output from being read
        self._path = os.ttyname(self._slave)
        with suppress(termios.error):
            termios.tcsetattr(self._slave, termios.TCSANOW, settings)
        self.resize()
        self._is_over = False
        self._thread = threading.Thread(target=self._copy, name="commonhold-terminal", daemon=True)
        self._thread.start()

    @property
    def words(self) -> tuple[str, ...]:
        """The words that begin a command, as the leader of a session of processes, so that it gets this terminal."""
        return ("/bin/sh", "-c", _ENTER, self._path)

    def resize(self, *_: object) -> None:
        """Give it the size of the person's; the kernel then tells the programs in it."""
        with suppress(termios.error, OSError):
            termios.tcsetwinsize(self._master, termios.tcgetwinsize(self._person.writing))

    def close(self) -> None:
        """Print the rest of the output, and close it. The command has ended."""
        os.close(self._slave)  # then the other end reports its end, after the last byte
        self._thread.join(DRAIN_SECONDS)
        self._is_over = True
        self._thread.join(DRAIN_SECONDS)
        if not self._thread.is_alive():
            os.close(self._master)

    def _copy(self) -> None:
        typed = b""
        try:
            with append_to(self._log) as log:
                while not self._is_over:
                    reads = [] if self._person.gone or len(typed) >= MOST_BYTES else [self._person.reading]
                    writes = [self._master] if typed else []
                    readable, writable, _ = select.select([self._master, *reads], writes, [], LOOK_SECONDS)
                    if self._master in readable:
                        printed = _read(self._master)
                        if printed == b"":
                            break
                        log.write(printed or b"")
                        self._show(printed or b"")
                    if self._person.reading in readable:
                        typed += self._typed()
                    if writable:
                        with suppress(BlockingIOError):
                            typed = typed[os.write(self._master, typed) :]
        except OSError as fault:  # a full disk, say
            self._person.gone = f"its log could not be written: {fault.strerror}"

    def _typed(self) -> bytes:
        typed = _read(self._person.reading)
        if typed == b"":
            self._person.gone = self._person.gone or _CLOSED
        return typed or b""

    def _show(self, printed: bytes) -> None:
        """Print to the person, who may be gone: the log has it in any case."""
        try:
            while printed and not self._person.gone:
                try:
                    printed = printed[os.write(self._person.writing, printed) :]
                except BlockingIOError:  # another program has left the terminal so; it takes no more for now
                    select.select([], [self._person.writing], [], LOOK_SECONDS)
        except OSError:
            self._person.gone = self._person.gone or _CLOSED


def _read(descriptor: int) -> bytes | None:
    """Read the bytes that have arrived; empty at the end, and None if there are none now."""
    try:
        return os.read(descriptor, MOST_BYTES)
    except BlockingIOError:
        return None
    except OSError:  # the other end was closed
        return b""
