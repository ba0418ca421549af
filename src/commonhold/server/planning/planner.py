"""A planner: a process that makes plans for a daemon. It reads files and state, and writes neither."""

import gc
import os
import signal
import time
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Final

from commonhold.api.service import Service
from commonhold.bootstrap import Shared, compose, open_insight
from commonhold.code.type_checkers import TypeReport
from commonhold.commits.cross_file_admission import Insight
from commonhold.commits.plan import CrossFileEffects, Plan
from commonhold.kernel.errors import CommonholdError
from commonhold.machine.correlation import correlated
from commonhold.machine.log_output import log_to_standard_error
from commonhold.machine.logs import Log
from commonhold.machine.worker_process import Ask, answer_frames
from commonhold.merging.branches.verification import Check, CheckResult
from commonhold.server.planning.wire import (
    Answer,
    Asked,
    Defect,
    LinksAsked,
    PlanAsked,
    TestsBegin,
    Tree,
    TypesAsked,
    asked,
    packed,
    type_report,
)
from commonhold.workspace.repository import find_repository

MOST_TREES: Final = 16
MOST_REMEMBERED: Final = 64
"""The number of plans whose findings in other files a planner remembers."""
MOST_CPU_SECONDS: Final = 45.0
"""Limit of processor time for a plan; lower than the silence limit, after which a process counts as hung."""
GARBAGE_THRESHOLD: Final = 50_000
_log: Final = Log(__name__)


class Daemon:
    """The daemon that asked for a plan, while the planner works on it."""

    def __init__(self) -> None:
        """Begin with no daemon to ask."""
        self.ask: Ask | None = None


class DaemonsTypes:
    """The type checkers of the daemon, one of a kind for all its planners: each keeps a project in memory."""

    def __init__(self, daemon: Daemon) -> None:
        """Ask `daemon`."""
        self._daemon = daemon

    def compare(
        self, changes: Mapping[str, bytes | None], also: Collection[str] = (), confined: Collection[str] = ()
    ) -> TypeReport:
        """Return the checkers' report about these changes; an empty one if there is no daemon to ask."""
        if self._daemon.ask is None:
            return TypeReport()
        return type_report(self._daemon.ask(packed(TypesAsked(changes, tuple(also), tuple(confined)))))

    def close(self) -> None:
        """Do nothing: the checkers belong to the daemon."""


@dataclass(frozen=True, slots=True)
class AnnouncedCheck:
    """A check whose time limit is announced to the daemon, which would else take this process for one that hangs."""

    check: Check
    daemon: Daemon

    @property
    def name(self) -> str:
        """The name of the check."""
        return self.check.name

    def passes(self, contents: Mapping[str, bytes | None], timeout_seconds: float) -> CheckResult:
        """Announce the check, and run it."""
        if self.daemon.ask is not None:
            self.daemon.ask(packed(TestsBegin(timeout_seconds)))
        return self.check.passes(contents, timeout_seconds)


def _announcing(insight: Insight, daemon: Daemon) -> Insight:
    """Return the same insight, with tests that are announced to the daemon."""
    tests_of = insight.tests_of
    if tests_of is None:
        return insight
    return replace(insight, tests_of=lambda paths: AnnouncedCheck(tests_of(paths), daemon))


class Planner:
    """Makes plans for the working trees that requests name."""

    def __init__(self) -> None:
        """Begin with no working tree and no plan."""
        self._daemon = Daemon()
        self._types = DaemonsTypes(self._daemon)
        self._services: list[tuple[Tree, Service]] = []
        self._found: OrderedDict[int, CrossFileEffects] = OrderedDict()
        self._numbers = count(1)

    def answer(self, request: Asked, ask: Ask | None = None) -> Answer:
        """Return the answer to a request; an exception becomes an answer, too. `ask` asks the daemon."""
        self._daemon.ask = ask
        with correlated(request.correlation):
            try:
                match request:
                    case PlanAsked():
                        return self._plan(request)
                    case LinksAsked(tree, number):
                        found = self._found.get(number)
                        return found is not None and self._service(tree).plans.still_links(found)
            except CommonholdError as fault:
                return fault
            except Exception as fault:  # noqa: BLE001 - a defect of ours must not end a planner
                _log.error("commit cannot be planned", fault=fault)
                return Defect(f"{type(fault).__name__}: {fault}")

    def _plan(self, request: PlanAsked) -> Answer:
        start = time.perf_counter()
        planned = self._service(request.tree).plans.plan(request.request, request.earlier)
        seconds = time.perf_counter() - start
        _log.debug("commit planned", plan=type(planned).__name__, seconds=seconds, root=request.tree.root)
        if not isinstance(planned, Plan) or not planned.crossed.is_linked:
            return planned
        number = next(self._numbers)
        self._found[number] = planned.crossed
        while len(self._found) > MOST_REMEMBERED:
            self._found.popitem(last=False)
        return replace(planned, crossed=planned.crossed.without_files((os.getpid(), number)))

    def _service(self, tree: Tree) -> Service:
        """Return the service for a working tree, and make it the last in order of use."""
        service = next((service for known, service in self._services if known == tree), None)
        if service is None:
            repository = find_repository(tree.root)
            types = self._types if tree.settings.types == "on" else None

            def see() -> Insight:
                insight = open_insight(repository, tree.settings, keeps_index=False, types=types)
                return _announcing(insight, self._daemon)

            service = compose(repository, tree.settings, umask=tree.umask, shared=Shared(see=see))
        self._services = [*(each for each in self._services if each[1] is not service), (tree, service)]
        while len(self._services) > MOST_TREES:
            self._services.pop(0)[1].close()
        return service


def _within_limit(planner: Planner, data: bytes, ask: Ask) -> bytes:
    """Return the answer to a request. If it takes too much processor time, the kernel ends this process."""
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_SECONDS)
    answer = packed(planner.answer(asked(data), ask))
    signal.setitimer(signal.ITIMER_PROF, 0)
    return answer


def main(level: str = "warning", log_path: str = "") -> None:
    """Serve on standard input and output; log from `level` on to standard error, the daemon's log at `log_path`."""
    log_to_standard_error(level, log_path, with_libraries=True)
    # Ctrl-C and a request to end are for the daemon, which ends this process; so does the daemon's death.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    planner = Planner()
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)
    answer_frames(partial(_within_limit, planner))
