"""Commands of a session: started, waited for, and ended with all that they have started."""

import signal
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from commonhold.kernel.managed_session import EndCause, SessionWish
from commonhold.machine.process_groups import has_ended, signal_group
from commonhold.machine.process_tree import collect_orphans, end_descendants
from commonhold.session_host.attempt_logs import append_to
from commonhold.session_host.limits import Limits
from commonhold.session_host.session_files import WorkspaceNote
from commonhold.session_host.terminal import CommandTerminal

GRACE_SECONDS: Final = 10.0
"""How long the processes of a session have between SIGTERM and SIGKILL."""
LEFT_SECONDS: Final = 2.0
"""The same for those that an agent has left behind when it ends."""
COLLECT_SECONDS: Final = 5.0
_NO_SIGNAL: Final = 128


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why a command was ended: a wish, or a limit that it exceeded."""

    cause: EndCause
    note: str
    wish: SessionWish | None = None


class Command(Protocol):
    """A command that was started."""

    def has_ended(self, seconds: float) -> bool:
        """Wait for its end, for at most this time. Return whether it has ended."""

    def end(self, *, is_asked: bool) -> None:
        """End all that it has started; if it `is_asked` to end, itself, too, with a grace between the signals."""

    def outcome(self) -> tuple[int | None, Stopped | None]:
        """Return its exit status (minus the number of the signal that ended it; None: it never ran), after `end`.

        The other part is the reason if it did not end by itself, nor was asked to: a limit of the machine, say.
        """


class Process:
    """A command as a process of this machine, perhaps in a sandbox that its first words make."""

    def __init__(
        self,
        note: WorkspaceNote,
        words: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        limits: Limits,
        spared: Callable[[], Collection[int]],
        terminal: CommandTerminal | None = None,
    ) -> None:
        """Start it; it appends to the log, or has a terminal, which does. See `Turn` for the rest.

        Raises OSError if it cannot be started.
        """
        self._box, self._limits, self._spared = note.box, limits, spared
        self._has_terminal = terminal is not None
        self._kills = limits.kills
        self._collects_at = time.monotonic() + COLLECT_SECONDS
        with append_to(log) as printed:
            self._process = subprocess.Popen(  # noqa: S603 - running it is the purpose of this class
                (*limits.words, *(terminal.words if terminal else ()), *note.box, *words),
                cwd=note.path,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                start_new_session=True,
            )

    def has_ended(self, seconds: float) -> bool:
        """See Command."""
        if has_ended(self._process.pid, seconds):
            return True
        if time.monotonic() >= self._collects_at:
            collect_orphans(self._process.pid)
            self._collects_at = time.monotonic() + COLLECT_SECONDS
        return False

    def end(self, *, is_asked: bool) -> None:
        """See Command."""
        is_leader = not (self._box or self._has_terminal)
        if is_asked and is_leader:
            signal_group(self._process.pid, signal.SIGTERM)
            has_ended(self._process.pid, GRACE_SECONDS)
        # The first process of a sandbox is not the agent, and takes no signal for it; a shell at a terminal has groups
        # of processes, and ends by SIGHUP only.
        grace = GRACE_SECONDS if is_asked and not is_leader else LEFT_SECONDS
        signals = (signal.SIGHUP, signal.SIGTERM) if self._has_terminal else (signal.SIGTERM,)
        end_descendants(grace, self._process.pid, self._spared(), signals)
        # Without /proc this ends those that have stayed in the group.
        signal_group(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def outcome(self) -> tuple[int | None, Stopped | None]:
        """See Command."""
        status = self._process.wait()
        # bubblewrap reports the signal that ended its command as a shell does.
        status = as_signal(status) if self._box else status
        if status and self._limits.kills > self._kills:
            return status, Stopped(EndCause.OUT_OF_MEMORY, f"it was out of memory: {self._limits.told}")
        return status, None


def as_signal(status: int) -> int:
    """Return minus the number of the signal if a shell's exit status says that one has ended the command."""
    return _NO_SIGNAL - status if status > _NO_SIGNAL else status
