"""Attribute shell commands to agents: a hook reports each command, and its caller, just before its shell comes.

The shell itself names at most its session. If it does not even name that, the session is the newest whose hooks came
from the process that started the shell.
"""

import shlex
import threading
from collections import deque
from typing import Any, Final

from commonhold.agents.hook_events import AboutToRun, Caller

MOST: Final = 64
_BEFORE_COMMAND: Final = "eval"
_ADDED: Final = "</dev/null"


class PendingShellCalls:
    """Commands that hooks have reported and no shell has claimed yet, the newest of each session."""

    def __init__(self) -> None:
        """Begin with none."""
        self._sessions: dict[str, deque[AboutToRun]] = {}
        self._processes: dict[tuple[str, str], str] = {}
        self._turn = threading.Lock()

    def note(self, happening: AboutToRun) -> None:
        """Record a command that is about to run."""
        with self._turn:
            session = Caller(happening.caller.agent, happening.caller.session).holder  # also for a subagent
            awaited = self._sessions.pop(session, deque(maxlen=MOST))
            awaited.append(happening)
            self._sessions[session] = awaited
            self._processes.pop((happening.caller.agent, happening.caller.process), None)
            self._processes[happening.caller.agent, happening.caller.process] = session
            _forget_oldest(self._sessions)
            _forget_oldest(self._processes)

    def session_of(self, agent: str, process: str) -> str:
        """Return the last session whose hooks came from an agent's process; if none did, one named after it."""
        with self._turn:
            return self._processes.get((agent, process), f"{agent}:{process}")

    def claim(self, session: str, command: str) -> tuple[str, str]:
        """Return a shell's holder and command, as a hook reported them for this session, and remove the report.

        If no hook has reported the command, the holder is the session, or its only part with reported commands.
        """
        with self._turn:
            awaited = self._sessions.get(session, deque())
            found = next((each for each in reversed(awaited) if _plain(each.command) == _plain(command)), None)
            if found is not None:
                awaited.remove(found)
                return found.caller.holder, found.command
            holders = {each.caller.holder for each in awaited}
        return (holders.pop() if len(holders) == 1 else session), command


def _forget_oldest(kept: dict[Any, Any]) -> None:
    if len(kept) > MOST:
        del kept[next(iter(kept))]


def command_in(script: str) -> str:
    """Return the command that a script of Claude Code's gives to its prepared shell; for others, the script itself."""
    try:
        words = shlex.split(script)
        return words[words.index(_BEFORE_COMMAND) + 1]
    except (ValueError, IndexError):
        return script


def _plain(command: str) -> str:
    """Return a command in a form to compare: Claude Code closes the input of its first part, and trims it."""
    return "".join(command.split()).replace(_ADDED, "")
