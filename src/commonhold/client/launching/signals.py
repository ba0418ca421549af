"""Signals for a command: whoever runs it hands on what it gets itself, unless a terminal has given it to both."""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, without its enumerations
import os

from .speaking import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Send = Callable[[int], object]

_FROM_TERMINAL = (_signal.SIGINT, _signal.SIGQUIT)
_PASSED_ON = (*_FROM_TERMINAL, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGUSR1, _signal.SIGUSR2)


class Signals:
    """Takes signals from now on. What is ignored here (under nohup, say) is to be ignored by the command, too."""

    def __init__(self) -> None:
        """Keep what comes for the command, which is still to be started."""
        self._early: list[int] = []
        self._send: Send = self._early.append
        before = {number: _signal.getsignal(number) for number in _PASSED_ON}
        self._before = {number: heed for number, heed in before.items() if heed is not _signal.SIG_IGN}
        for number in self._before:
            _signal.signal(number, lambda number, _: self._send(number))

    def give_to(self, send: "Send") -> None:
        """Hand on by `send` from now, and what has come before."""

        def pass_on(number: int) -> None:
            if number not in _FROM_TERMINAL or not _is_in_foreground():
                send(number)

        self._send = pass_on
        for number in self._early:
            pass_on(number)

    def drop(self) -> None:
        """Hand on nothing more: the command has ended, and that is still to be told."""
        self._send = self._early.append

    def reset(self) -> None:
        """Let them do what they do by themselves; in the child, which becomes the command."""
        for number in self._before:
            _signal.signal(number, _signal.SIG_DFL)

    def give_back(self) -> None:
        """Heed them as before."""
        for number, heed in self._before.items():
            _signal.signal(number, heed)


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
