"""Whose a command of a shell is: the hook just before it has said so. The shell itself names no more than the session.

Where it does not even name that, the session is the newest whose hooks came from the process that started the shell.
"""

import shlex
import threading
from collections import deque
from typing import Any, Final

from commonhold.app.happenings import AboutToRun, Caller

MOST: Final = 64
_BEFORE_COMMAND: Final = "eval"
_ADDED: Final = "</dev/null"


class Awaited:
    """The commands that hooks have reported and no shell has come with yet, the newest of each session."""

    def __init__(self) -> None:
        """Await none yet."""
        self._sessions: dict[str, deque[AboutToRun]] = {}
        self._processes: dict[tuple[str, str], str] = {}
        self._turn = threading.Lock()

    def note(self, happening: AboutToRun) -> None:
        """Remember what is about to be run."""
        with self._turn:
            session = _session_of(happening.caller)
            awaited = self._sessions.pop(session, deque(maxlen=MOST))
            awaited.append(happening)
            self._sessions[session] = awaited
            self._processes.pop((happening.caller.agent, happening.caller.process), None)
            self._processes[happening.caller.agent, happening.caller.process] = session
            _forget_oldest(self._sessions)
            _forget_oldest(self._processes)

    def session_of(self, agent: str, process: str) -> str:
        """The last session whose hooks came from a process of an agent; if none did, one by the name of the process."""
        with self._turn:
            return self._processes.get((agent, process), f"{agent}:{process}")

    def claim(self, session: str, command: str) -> tuple[str, str]:
        """The holder and the command that a shell of the session comes with, as it was reported; it is awaited no more.

        Of one that nobody has reported the holder is the session, or its one part that anything is awaited of.
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
    """The command that a script of Claude Code's gives to its shell once that is set up; else the script."""
    try:
        words = shlex.split(script)
        return words[words.index(_BEFORE_COMMAND) + 1]
    except (ValueError, IndexError):
        return script


def _session_of(caller: Caller) -> str:
    return Caller(caller.agent, caller.session).holder


def _plain(command: str) -> str:
    """A command as it can be known again: Claude Code closes the input of its first part, and trims it."""
    return "".join(command.split()).replace(_ADDED, "")
