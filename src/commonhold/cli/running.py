"""Running a command while a lease is held: it gets our signals, and it is ended when the lease is lost."""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any, Final, Self

from commonhold.cli.given import Given
from commonhold.cli.opening import AGENT, STORE
from commonhold.cli.output import complain, flush, shown
from commonhold.client.session import Held
from commonhold.domain.errors import Code, InputError

LEASE: Final = "COMMONHOLD_LEASE"
FENCE: Final = "COMMONHOLD_FENCE"
GRACE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.2
_FROM_TERMINAL: Final = (signal.SIGINT, signal.SIGQUIT)
_FORWARDED: Final = (*_FROM_TERMINAL, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_BY_SIGNAL: Final = 128


def check_command(words: Sequence[str], folder: str | None) -> None:
    """Look for the command before anything is leased for it. Raises InputError `FILE_NOT_FOUND`."""
    name = os.path.join(folder or "", words[0]) if os.sep in words[0] else words[0]  # noqa: PTH118 - a name for PATH
    if shutil.which(name) is None:
        raise InputError(
            Code.FILE_NOT_FOUND,
            f"there is no command {words[0]!r} that can be run",
            hint="check its name, that it is in PATH and that it is executable",
            fields={"command": words[0]},
        )


def run(words: Sequence[str], held: Held, given: Given, *, holder: str, signals: "Signals") -> int:
    """Run a command under the lease `held`; its exit status, as a shell tells it.

    Raises RefusedError `LEASE_LOST` where the lease was lost before the command had ended.
    """
    flush()
    signals.take()
    child = subprocess.Popen(words, env=_environment(held, given, holder), cwd=given.folder)  # noqa: S603
    signals.give_to(child)
    _attend(child, held, words[0])
    held.check()
    return child.returncode if child.returncode >= 0 else _BY_SIGNAL - child.returncode


def _environment(held: Held, given: Given, holder: str) -> dict[str, str]:
    """What a command of ours needs to act for the same holder, under the lease."""
    store = {STORE: given.store} if given.store else {}
    return {**os.environ, **store, AGENT: holder, LEASE: held.id, FENCE: str(held.fence)}


def _attend(child: subprocess.Popen[bytes], held: Held, name: str) -> None:
    """Wait for the end of the command, and bring it about if the lease is lost."""
    has_ended = threading.Event()

    def wait() -> None:
        child.wait()
        has_ended.set()

    threading.Thread(target=wait, daemon=True).start()
    while not has_ended.wait(_LOOK_SECONDS):
        if held.is_lost:
            complain(f"the lease {held.id} is lost, so {shown(name)} is ended")
            child.terminate()
            if not has_ended.wait(GRACE_SECONDS):
                child.kill()
                has_ended.wait()


class Signals:
    """Hands the signals that this process gets on to the command, until the end of the block.

    What comes when the command has ended is dropped: the lease is still to be released.
    """

    def __init__(self) -> None:
        """Let signals be, for now."""
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        return self

    def take(self) -> None:
        """Take signals from now. What is ignored here (under nohup, say) is to be ignored by the command, too."""
        heeded = [each for each in _FORWARDED if signal.getsignal(each) is not signal.SIG_IGN]
        self._before = {each: signal.signal(each, self._take) for each in heeded}

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def give_to(self, child: subprocess.Popen[bytes]) -> None:
        """Hand on from now, and what has come before."""
        self._child = child
        for number in self._early:
            child.send_signal(number)

    def _take(self, number: int, _: FrameType | None) -> None:
        if self._child is None:
            self._early.append(number)
        elif number not in _FROM_TERMINAL or not _is_in_foreground():
            self._child.send_signal(number)


def _is_in_foreground() -> bool:
    """Whether a terminal gives Ctrl-C to this process: then it gives it to the command, too."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
