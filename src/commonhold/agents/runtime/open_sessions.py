"""The open sessions of agents, each with its channel to the service, for as long as events of it arrive."""

import math
import threading
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from commonhold.agents.hook_events import Caller
from commonhold.client.session import Commonhold

OpenSession = Callable[[str, str], Commonhold]
"""Opens a session on the working tree at a root, for a holder."""
_MOST_DIGITS: Final = 20
QUIET_SECONDS: Final = 60.0
"""A subagent without a sign of life for this long yields to its session, in seconds."""


@dataclass(frozen=True, slots=True)
class Silence:
    """When a session counts as ended without a report: no event for `idle_seconds`, and not known to run.

    `idle_seconds` returns that time for the working tree at a root, `now` is the clock for it.
    """

    idle_seconds: Callable[[str], float]
    now: Callable[[], float]
    is_running: Callable[[str], bool]


@dataclass(slots=True)
class _Open:
    session: Commonhold
    process: str
    heard_at: float
    run: str = ""
    """The process in which it began, or was resumed."""


class OpenSessions:
    """One session for each holder and working tree. Many threads may ask at once."""

    def __init__(self, open_session: OpenSession, silence: Silence) -> None:
        """Open each with `open_session` on demand."""
        self._open = open_session
        self._silence = silence
        self._known: dict[tuple[str, str], _Open] = {}
        self._lock = threading.Lock()

    def session(self, root: str, caller: Caller) -> Commonhold:
        """Return the session of a caller in the working tree at `root`."""
        with self._lock:
            known = self._known.get((root, caller.holder))
            if known is not None:
                known.process, known.heard_at = caller.process or known.process, self._silence.now()
                return known.session
        # Outside the lock: opening takes long in a new tree, and other callers must not wait for it.
        session = self._open(root, caller.holder)
        with self._lock:
            known = self._known.setdefault((root, caller.holder), _Open(session, caller.process, self._silence.now()))
        if known.session is not session:
            session.close()
        return known.session

    def givers(self, root: str, caller: Caller) -> list[Commonhold]:
        """Return the sessions that hand over their edits' leases to a caller.

        A session hands them over to its subagent, and silent subagents to their session.
        """
        if caller.subagent:
            return [self.session(root, replace(caller, subagent=""))]
        since, parts = self._silence.now() - QUIET_SECONDS, f"{caller.holder}/"
        with self._lock:
            return [
                known.session
                for (tree, name), known in self._known.items()
                if tree == root and name.startswith(parts) and known.heard_at <= since
            ]

    def of(self, holder: str) -> list[Commonhold]:
        """Return a holder's sessions, except in working trees that are gone: nothing can be read there any more."""
        with self._lock:
            of_holder = [(root, known.session) for (root, name), known in self._known.items() if name == holder]
        return [session for root, session in of_holder if Path(root).is_dir()]

    def parts_of(self, holder: str) -> list[str]:
        """Return the holders of a session's subagents that have open sessions."""
        with self._lock:
            return list(dict.fromkeys(name for _, name in self._known if name.startswith(f"{holder}/")))

    def begun(self, root: str, caller: Caller) -> Commonhold:
        """Return the session of a caller that begins or resumes, perhaps in another process."""
        session = self.session(root, caller)
        with self._lock:
            if known := self._known.get((root, caller.holder)):
                known.run = caller.process
        return session

    def is_of_earlier_run(self, caller: Caller) -> bool:
        """Whether the session was resumed in a process that began after the caller's: it does not end with that one."""
        with self._lock:
            runs = {each.run for (_, name), each in self._known.items() if name == caller.holder}
        began = _began(caller.process)
        return any(0 < began < _began(run) and self._silence.is_running(run) for run in runs)

    def let_go_of_silent(self) -> list[str]:
        """Close the silent sessions; return those holders that are not known to run.

        A session that still runs is reopened at its next event.
        """
        now = self._silence.now()
        with self._lock:
            roots = {root for root, _ in self._known}
        heard_after = {root: now - self._silence.idle_seconds(root) for root in roots}
        with self._lock:
            heard = {
                name for (root, name), each in self._known.items() if each.heard_at > heard_after.get(root, -math.inf)
            }
            silent = {name: each.process for (_, name), each in self._known.items() if name not in heard}
            taken = self._taken(silent)
        _close(taken)
        return [name for name, process in silent.items() if not (process and self._silence.is_running(process))]

    def let_go(self, holders: Iterable[str]) -> None:
        """Close the sessions of some holders."""
        names = frozenset(holders)
        with self._lock:
            taken = self._taken(names)
        _close(taken)

    def _taken(self, names: Container[str]) -> list[Commonhold]:
        """Remove and return the sessions of some holders."""
        keys = [key for key in self._known if key[1] in names]
        return [self._known.pop(key).session for key in keys]

    def close(self) -> None:
        """Close all sessions."""
        with self._lock:
            known, self._known = self._known, {}
        _close(each.session for each in known.values())


def _close(sessions: Iterable[Commonhold]) -> None:
    for session in sessions:
        session.close()


def _began(process: str) -> int:
    """Return when a process began; 0 if that is not known."""
    began = process.partition(":")[2]
    return int(began) if began.isdecimal() and len(began) <= _MOST_DIGITS else 0
