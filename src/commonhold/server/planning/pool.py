"""The planners of a daemon, and the choice of one for each plan.

A lone plan is made in the daemon. Planners are started when another commit comes meanwhile, and used from then on. If
none is free for a while, or none can be started, or two were killed, or one hangs, the daemon plans by itself. A plan
that crashes planners, however, would crash the daemon, too: it is refused.
"""

import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, Protocol

from commonhold.code.type_checkers import TypeChecker, TypeReport
from commonhold.commits.plan import CommitRequest, CrossFileEffects, Plan, Rejected
from commonhold.commits.plan_sources import Plans
from commonhold.kernel.errors import Code, CommonholdError, InternalError
from commonhold.machine.correlation import current
from commonhold.machine.logs import Log
from commonhold.machine.worker_process import (
    SILENCE_SECONDS,
    Ask,
    ChildSilent,
    WorkerProcess,
    program_of,
    usable_processors,
)
from commonhold.server.planning.wire import (
    Answer,
    Asked,
    Defect,
    LinksAsked,
    PlanAsked,
    TestsBegin,
    Tree,
    TypesAsked,
    answer,
    packed,
    question,
)

PATIENCE_SECONDS: Final = 2.0
"""How long a plan waits for a free planner: they may all be running tests."""
FAITH_SECONDS: Final = 0.25
"""How long a plan waits for the planner that knows its file: another would have to read all of it first."""
RESTING_SECONDS: Final = 30.0
"""How long no planner is started after a failed start."""
MOST_ENDS: Final = 2
"""The number of planners that may be killed, or crash, over one plan: one may die for an unrelated reason."""
MOST_PATHS: Final = 4096
_log: Final = Log(__name__)


def start_planner(level: str = "warning", log_path: str = "") -> WorkerProcess:
    """Start a planner process, which logs from `level` on to the file at `log_path`. Raises OSError if that fails."""
    return WorkerProcess(program_of("commonhold.server.planning.planner", level, log_path), stderr=None)


class Process(Protocol):
    """A planner's process; `WorkerProcess` implements it."""

    @property
    def pid(self) -> int:
        """Its process id."""
        ...

    @property
    def has_crashed(self) -> bool:
        """Whether it died of its own work; known once it was ended."""
        ...

    def ask(self, request: bytes, reply: Ask, silence: Callable[[], float]) -> bytes:
        """Return its answer; `reply` answers its questions meanwhile. Raises EOFError or OSError when it is gone.

        If it is silent for longer than `silence` returns, it is killed and ChildSilent is raised.
        """
        ...

    def end(self) -> None:
        """End it at once."""
        ...


class End(Enum):
    """How a planner ended that was asked for something."""

    KILLED = auto()
    HUNG = auto()
    CRASHED = auto()


class Gone(Exception):  # noqa: N818 - the caller asks another planner instead
    """The planner that was asked has ended; `end` says how."""

    def __init__(self, end: End) -> None:
        """Store how it ended."""
        super().__init__(end)
        self.end = end


@dataclass(eq=False, slots=True)
class _Planner:
    """A process, whether it is at work, and the number of files whose last commit it planned."""

    process: Process
    is_busy: bool = False
    files: int = 0


class Planners:
    """A pool of planner processes. Threads may share it."""

    def __init__(
        self,
        most: int | None = None,
        start: Callable[[], Process] = start_planner,
        monotonic: Callable[[], float] = time.monotonic,
        crowd: Callable[[], int] = lambda: 0,
    ) -> None:
        """Have up to `most` planners, each begun with `start`: one for each processor by default; with none, plan here.

        `monotonic` counts seconds. `crowd` returns how many commits are under way at once, including those that wait
        for their turn.
        """
        self._most = usable_processors() if most is None else most
        self._start = start
        self._monotonic = monotonic
        self._crowd = crowd
        self._rests_until = -math.inf
        self._change = threading.Condition()
        self._planners: list[_Planner] = []
        self._starting = 0
        self._under_way = 0
        self._is_over = False
        self._knowing: OrderedDict[str, _Planner] = OrderedDict()

    def plan(
        self, asked: PlanAsked, path: str, own: Callable[[], Plan | Rejected], types: TypeChecker | None = None
    ) -> Plan | Rejected:
        """Return the plan of a free planner, preferably the one that planned the last commit to the file at `path`.

        Without planners, `own` makes it. This process answers a planner's questions to type checkers with `types`.
        """
        with self._change:
            self._under_way += 1
            if max(self._under_way, self._crowd()) > 1:
                self._begin_starting()
        try:
            return self._planned(asked, path, own, types)
        finally:
            with self._change:
                self._under_way -= 1

    def _planned(
        self, asked: PlanAsked, path: str, own: Callable[[], Plan | Rejected], types: TypeChecker | None
    ) -> Plan | Rejected:
        ends: Counter[End] = Counter()
        while ends[End.CRASHED] < MOST_ENDS:
            planner = self._taken(path)
            if planner is None:
                break
            try:
                planned = self._asked(planner, asked, types)
            except Gone as gone:
                ends[gone.end] += 1
                if gone.end is End.HUNG or ends[End.KILLED] == MOST_ENDS:
                    break
                continue
            assert not isinstance(planned, bool)  # noqa: S101 - a bool answers the other request
            return planned
        if not ends[End.CRASHED]:
            return own()
        raise InternalError(
            Code.PLANNING_CRASHED,
            "the processes that were to check this change crashed, or took far too long; nothing was written",
            hint="commit in smaller parts; please report it, with the log of the daemon in the state folder",
        )

    def still_links(self, tree: Tree, origin: tuple[int, int]) -> bool:
        """Ask the planner with that process id whether its plan still holds; False if the planner is gone."""
        pid, number = origin
        planner = self._taken_again(pid)
        if planner is None:
            return False
        try:
            return self._asked(planner, LinksAsked(tree, number, current())) is True
        except Gone:
            return False

    def _asked(self, planner: _Planner, asked: Asked, types: TypeChecker | None = None) -> Plan | Rejected | bool:
        silence = SILENCE_SECONDS

        def reply(data: bytes) -> bytes:
            nonlocal silence
            match question(data):
                case TestsBegin(seconds):
                    silence = SILENCE_SECONDS + seconds
                    return b""
                case TypesAsked(changes, also, confined):
                    return packed(types.compare(changes, also, confined) if types else TypeReport())

        is_alive = False
        try:
            try:
                answered = answer(planner.process.ask(packed(asked), reply, lambda: silence))
                is_alive = True
            finally:
                self._put_back(planner, is_alive=is_alive)
        except (EOFError, OSError) as fault:
            raise Gone(_end_of(planner.process, fault)) from fault
        return _given(answered)

    def _begin_starting(self) -> None:
        """Start planners up to the limit; each is used as it gets ready. The caller holds the lock."""
        if self._monotonic() < self._rests_until:
            return
        while not self._is_over and len(self._planners) + self._starting < self._most:
            try:
                threading.Thread(target=self._start_one, name="commonhold-planner", daemon=True).start()
            except RuntimeError as fault:  # no more threads: plans are made in this process
                _log.error("planner cannot be started", fault=fault)
                return
            self._starting += 1

    def _start_one(self) -> None:
        process = None
        try:
            process = self._start()
        except OSError as fault:  # plans are made in this process
            _log.error("planner cannot be started", fault=fault)
        with self._change:
            self._starting -= 1
            if process is None:
                self._rests_until = self._monotonic() + RESTING_SECONDS
            elif self._is_over:
                process.end()
            else:
                _log.debug("planner started", planner=process.pid)
                self._planners.append(_Planner(process))
            self._change.notify_all()

    def _taken(self, path: str) -> _Planner | None:
        """Return a planner that is free now or soon, and mark it as busy; None if there is none."""
        with self._change:
            self._change.wait_for(lambda: self._chosen(path) or not self._planners, FAITH_SECONDS)
            if not self._change.wait_for(lambda: self._idle() or not self._planners, PATIENCE_SECONDS):
                return None
            planner = self._chosen(path) or next(iter(self._idle()), None)
            if planner is not None:
                planner.is_busy = True
                self._know(planner, path)
            return planner

    def _idle(self) -> list[_Planner]:
        return sorted((each for each in self._planners if not each.is_busy), key=lambda each: each.files)

    def _chosen(self, path: str) -> _Planner | None:
        """Return the planner that knows the file, if it is free; another free one only if it knows far fewer files."""
        knows = self._knowing.get(path)
        if knows in self._planners and not knows.is_busy:
            return knows
        most = knows.files - 1 if knows in self._planners else math.inf
        return next((each for each in self._idle() if each.files < most), None)

    def _know(self, planner: _Planner, path: str) -> None:
        """Record which planner planned the last commit to a file."""
        before = self._knowing.pop(path, None)
        self._knowing[path] = planner
        forgotten = [before] if before else []
        if len(self._knowing) > MOST_PATHS:
            forgotten.append(self._knowing.popitem(last=False)[1])
        planner.files += 1
        for each in forgotten:
            each.files -= 1

    def _taken_again(self, pid: int) -> _Planner | None:
        with self._change:
            found = next((each for each in self._planners if each.process.pid == pid), None)
            if found is None:
                return None
            is_free = self._change.wait_for(lambda: not found.is_busy, PATIENCE_SECONDS)
            if not is_free or found not in self._planners:
                return None
            found.is_busy = True
            return found

    def _put_back(self, planner: _Planner, *, is_alive: bool) -> None:
        with self._change:
            planner.is_busy = False
            if not is_alive and planner in self._planners:  # else all were ended meanwhile
                planner.process.end()
                self._planners.remove(planner)
                self._begin_starting()
            self._change.notify_all()

    def close(self) -> None:
        """End all planners; idempotent. Their unfinished plans are made in this process."""
        with self._change:
            self._is_over = True
            planners, self._planners = self._planners, []
            self._change.notify_all()
        for each in planners:
            each.process.end()


def _end_of(process: Process, fault: Exception) -> End:
    if isinstance(fault, ChildSilent):
        _log.error("planner hung and was killed", planner=process.pid)
        return End.HUNG
    end = End.CRASHED if process.has_crashed else End.KILLED
    _log.warning("planner ended", planner=process.pid, end=end.name.lower())
    return end


def _given(answered: Answer) -> Plan | Rejected | bool:
    if isinstance(answered, CommonholdError):
        raise answered
    if isinstance(answered, Defect):
        raise InternalError(
            Code.INTERNAL,
            f"the commit could not be planned: {answered.words}",
            hint="please report it, with the log of the daemon in the state folder",
        )
    return answered


class PooledPlans:
    """Plans of commits to one working tree, made by planners."""

    def __init__(
        self, planners: Planners, tree: Tree, own: Plans, types: Callable[[], TypeChecker | None] = lambda: None
    ) -> None:
        """Ask `planners`; `own` makes plans in this process, `types` returns its type checkers."""
        self._types = types
        self._planners = planners
        self._tree = tree
        self._own = own

    def plan(self, request: CommitRequest, earlier: CrossFileEffects | None = None) -> Plan | Rejected:
        """Return the plan."""
        asked = PlanAsked(self._tree, request, earlier.without_files() if earlier else None, current())
        path = request.changeset.edits[0].key if request.changeset.edits else ""
        file = path.partition("#")[0]
        return self._planners.plan(
            asked, f"{self._tree.root}\0{file}", lambda: self._own.plan(request, earlier), self._types()
        )

    def still_links(self, crossed: CrossFileEffects) -> bool:
        """Whether the same would be found in other files now; False also if that can no longer be known."""
        if crossed.origin is None:
            return self._own.still_links(crossed)
        return self._planners.still_links(self._tree, crossed.origin)
