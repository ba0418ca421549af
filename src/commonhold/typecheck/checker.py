"""A type checker that is a language server. It never raises: it reports its failures."""

import os
import shlex
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final

from commonhold.code.type_checkers import TypeReport
from commonhold.typecheck.case import look_up
from commonhold.typecheck.comparison import Asking, Patience
from commonhold.typecheck.connection import Unanswered
from commonhold.typecheck.excluded_files import is_unchecked
from commonhold.typecheck.framing import ServerFault
from commonhold.typecheck.server import Server
from commonhold.typecheck.server_programs import locate

_FIRST_SECONDS: Final = 1.0
_LONGEST_SECONDS: Final = 300.0


class ServerChecker:
    """Compares by one server, in one working tree. Calls from several threads take turns."""

    def __init__(
        self,
        server: Server,
        root: str,
        environment: Mapping[str, str],
        *,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start nothing yet. `environment` is the environment of the server; its program is searched for there."""
        self._server, self._root, self._environment = server, os.path.realpath(root), environment
        self._patience = patience or Patience()
        self._asking = Asking(server, self._root, environment, self._patience)
        self._turn = threading.Lock()
        self._rest = _Backoff(clock)
        self._was_late = False

    def compare(
        self, changes: Mapping[str, bytes | None], also: Collection[str] = (), confined: Collection[str] = ()
    ) -> TypeReport:
        """Return its complaints about these files once the changes are made, less those before."""
        mine = {path: content for path, content in changes.items() if self._server.language_of(path)}
        beside = [path for path in also if self._server.language_of(path)]
        if not mine or not (beside or mine.keys() - confined):
            return TypeReport()
        if not self._turn.acquire(timeout=self._patience.first_seconds):
            return self._degraded("is busy with the changes of others", "repeat the call in a moment")
        try:
            return self._compared(mine, beside, confined)
        finally:
            self._turn.release()

    def close(self) -> None:
        """End the server; idempotent. A later comparison would start it again."""
        with self._turn:
            self._asking.end()

    def _compared(
        self, changes: Mapping[str, bytes | None], also: Collection[str], confined: Collection[str]
    ) -> TypeReport:
        program = locate(self._server, self._environment)
        if program is None:
            return replace(self._degraded("is not found", self._server.install), is_missing=True)
        if seconds := self._rest.left():
            return self._degraded(self._rest.reason, f"repeat the call in {seconds:.0f} s, when it is tried again")
        try:
            case = look_up(self._root, changes, also, confined)
            report = self._asking.compare(program, case)
        except Unanswered as fault:
            return self._unanswered(fault)
        except ServerFault as fault:
            return self._failed(fault, f"see whether it runs: {shlex.join((program, *self._server.arguments))}")
        except OSError as fault:
            return self._degraded(f"cannot be shown the files ({fault.strerror})", "fix that, and repeat the call")
        self._was_late = False
        self._rest.worked()
        unchecked = tuple(each for each in report.new if is_unchecked(self._root, each.path))
        new = tuple(each for each in report.new if each not in unchecked)
        whys = [self._why(report.why, "repeat the call: the results so far are kept")] if report.why else []
        if case.unread:
            many = ", ".join(case.unread)
            whys.append(f"types were not compared in {many}: it is not UTF-8, or too long; look at it yourself")
        return replace(report, new=new, unchecked=unchecked, why="; ".join(whys))

    def _unanswered(self, fault: Unanswered) -> TypeReport:
        """Report the timeout; only a second one in a row ends the server: it may still be reading a large project."""
        if self._was_late:
            return self._failed(fault, 'if it stays so, switch it off in the settings: types = "off"')
        self._was_late = True
        return self._degraded(str(fault), "repeat the call: it may have been reading the project yet")

    def _failed(self, fault: ServerFault, step: str) -> TypeReport:
        self._asking.end()
        self._was_late = False
        self._rest.failed(str(fault))
        return self._degraded(str(fault), step)

    def _degraded(self, what: str, step: str) -> TypeReport:
        return TypeReport(why=self._why(what, step))

    def _why(self, what: str, step: str) -> str:
        return f"types were not compared: {self._server.name} {what}; {step}"


class _Backoff:
    """A pause after a failure, twice as long after each in a row, so that a failing server does not slow every commit.

    `reason` is that of the last failure.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Nothing has failed yet."""
        self._clock = clock
        self._until = clock()
        self._next_seconds = _FIRST_SECONDS
        self.reason = ""

    def left(self) -> float:
        """Return the remaining seconds of the pause."""
        return max(0.0, self._until - self._clock())

    def failed(self, reason: str) -> None:
        """Begin a pause."""
        self.reason = reason
        self._until = self._clock() + self._next_seconds
        self._next_seconds = min(2 * self._next_seconds, _LONGEST_SECONDS)

    def worked(self) -> None:
        """Forget the failures."""
        self._next_seconds = _FIRST_SECONDS
