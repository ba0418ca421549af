"""Signals for a command: its parent passes on the signals that it gets, unless a terminal has sent them to both."""

import _signal  # type: ignore[import-not-found]  # the module behind `signal`, without its enumerations
import os

from .speaking import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Send = Callable[[int], object]

_FROM_TERMINAL = (_signal.SIGINT, _signal.SIGQUIT)
_SET_PARENT_DEATH_SIGNAL = 1
_PASSED_ON = (*_FROM_TERMINAL, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGUSR1, _signal.SIGUSR2)


class Signals:
    """Catches signals from now on. Signals that are ignored here (under nohup, say) stay ignored in the command."""

    def __init__(self) -> None:
        """Keep signals for the command, which is not started yet."""
        self._early: list[int] = []
        self._send: Send = self._early.append
        before = {number: _signal.getsignal(number) for number in _PASSED_ON}
        self._before = {number: heed for number, heed in before.items() if heed is not _signal.SIG_IGN}
        for number in self._before:
            _signal.signal(number, lambda number, _: self._send(number))

    def give_to(self, send: "Send") -> None:
        """Pass signals on by `send` from now on, and those that have come before."""

        def pass_on(number: int) -> None:
            if number not in _FROM_TERMINAL or not _is_in_foreground():
                send(number)

        self._send = pass_on
        for number in self._early:
            pass_on(number)

    def drop(self) -> None:
        """Pass nothing more on: the command has ended, and its end is still to be reported."""
        self._send = self._early.append

    def reset(self) -> None:
        """Restore the default actions; in the child, which becomes the command."""
        for number in self._before:
            _signal.signal(number, _signal.SIG_DFL)

    def give_back(self) -> None:
        """Restore the handlers of before."""
        for number, heed in self._before.items():
            _signal.signal(number, heed)


def end_with_parent(signal: int) -> None:
    """Let this process get `signal` when its parent dies. Only on Linux. Raises OSError."""
    # The module behind `ctypes`, which itself takes half as long to load as the interpreter, before every command.
    import _ctypes  # noqa: PLC0415 - the processes that wait do without

    class Word(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001 - it takes none when it runs
        _type_ = "L"

    class Call(_ctypes.CFuncPtr):
        _flags_ = _ctypes.FUNCFLAG_CDECL
        _restype_ = Word

    library = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # the libraries of this process
    control = Call(_ctypes.dlsym(library, "prctl"))
    if control(*map(Word, (_SET_PARENT_DEATH_SIGNAL, signal, 0, 0, 0))):
        raise OSError("the kernel does not take a signal for the death of a parent")


def _is_in_foreground() -> bool:
    """Whether a terminal sends Ctrl-C to this process: then it sends it to the command, too."""
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
