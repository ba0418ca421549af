"""A plan of 60 tasks with overlapping keys, carried out by scripted agents. `make bench-coordination`.

Each agent is a process with a session of its own on one repository. It claims a task, thinks for a time that is drawn
from a log-normal distribution, and ends the task. Some are killed with SIGKILL while they work; their claims run out,
and another agent takes their place. What the plan allows is the longer of two bounds: all thinking divided by the
number of agents, and the longest chain of needs. Thinking that a kill wasted counts as work.
"""

import argparse
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from ctypes import c_bool
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event, Semaphore
from tempfile import TemporaryDirectory

import commonhold
from bench.reporting import Figure, at_least, judged, report
from commonhold.kernel.events import Recorded
from commonhold.kernel.keys import canonical, overlaps
from commonhold.kernel.task import Move, Task, TaskMoved

_SIGMA = 0.35
_IDLE_PART = 0.1
_POLL_SECONDS = 0.02
_MOST_EVENTS = 100_000
_SPEED_UPS = {3: 2.7, 8: 6.5, 20: 13.0}
"""The least speed-up against one agent, by the number of agents."""


@dataclass(frozen=True)
class Sizes:
    """The plan, and who carries it out: the median of thinking, and how many agents are killed in the last run.

    An agent is killed while it thinks, so its claim must run out: `ttl_seconds` after its last call.
    """

    tasks: int = 60
    agents: tuple[int, ...] = (1, 3, 8, 20)
    median_seconds: float = 2.0
    killed: int = 3
    ttl_seconds: float = 6.0
    seed: int = 1


QUICK = Sizes(tasks=8, agents=(1, 3), median_seconds=0.1, killed=1, ttl_seconds=1.5)


@dataclass(frozen=True)
class Plan:
    """Tasks, and the seconds that each takes whoever does it."""

    tasks: tuple[Task, ...]
    seconds: Mapping[str, float]

    def allows(self, agents: int, wasted: float = 0.0) -> float:
        """Return the least seconds in which so many agents can carry it out."""
        longest: dict[str, float] = {}
        for task in self.tasks:  # each comes after all that it needs
            before = max((longest[need] for need in task.needs), default=0.0)
            longest[task.id] = before + self.seconds[task.id]
        return max((sum(self.seconds.values()) + wasted) / agents, *longest.values())


@dataclass
class Run:
    """One run: how long it took, and what an observer of the log counts."""

    agents: int
    seconds: float
    allowed: float
    twice: int
    lost: int
    disordered: int
    together: int
    killed: int
    claims: Counter[str] = field(default_factory=Counter)


def plan_of(sizes: Sizes) -> Plan:
    """Make the plan: layers of tasks that need some of the layer before, and share a dozen files by regions."""
    chance = random.Random(sizes.seed)  # noqa: S311 - the same plan each time, and no secret
    tasks: list[Task] = []
    seconds: dict[str, float] = {}
    width = max(2, sizes.tasks // 3)
    for number in range(sizes.tasks):
        layer = number // width
        before = [each.id for each in tasks if layer and width * (layer - 1) <= int(each.id[1:]) < width * layer]
        needs = chance.sample(before, min(len(before), chance.choice((0, 1, 1, 2))))
        keys = {f"file:src/m{chance.randrange(12)}.py#f{chance.randrange(6)}" for _ in range(chance.choice((1, 1, 2)))}
        name = f"p{number}"
        seconds[name] = sizes.median_seconds * chance.lognormvariate(0.0, _SIGMA)
        estimate = sizes.median_seconds * chance.uniform(0.7, 1.4) * seconds[name] / sizes.median_seconds
        tasks.append(Task(name, f"task {number}", "", tuple(sorted(keys)), tuple(needs), estimate_seconds=estimate))
    return Plan(tuple(tasks), seconds)


def measure(sizes: Sizes) -> list[Figure]:
    """Carry the plan out with each number of agents, and once more with agents that are killed."""
    plan = plan_of(sizes)
    runs = [carry_out(plan, sizes, agents, killed=0) for agents in sizes.agents]
    deadly = carry_out(plan, sizes, sizes.agents[-1], killed=sizes.killed)
    figures = [Figure("tasks", sizes.tasks, "tasks"), Figure("all thinking", sum(plan.seconds.values()), "s")]
    for run in runs:
        figures += _figures(f"{run.agents} agents", run)
        goal = _SPEED_UPS.get(run.agents)
        name, speed_up = f"{run.agents} agents: speed-up against one", runs[0].seconds / run.seconds
        figures.append(at_least(name, speed_up, "times", goal) if goal else Figure(name, speed_up, "times"))
    return [*figures, *_figures(f"{deadly.agents} agents, {deadly.killed} killed", deadly)]


def _figures(who: str, run: Run) -> list[Figure]:
    wrong = {"done twice": run.twice, "lost": run.lost, "before their needs": run.disordered}
    return [
        Figure(f"{who}: time", run.seconds, "s"),
        at_least(f"{who}: of what the plan allows", run.allowed / run.seconds, "parts", 0.9),
        *(Figure(f"{who}: tasks {what}", n, "tasks", judged("0", is_met=not n)) for what, n in wrong.items()),
        Figure(f"{who}: colliding tasks run together", run.together, "tasks"),
    ]


def carry_out(plan: Plan, sizes: Sizes, agents: int, killed: int) -> Run:
    """Let processes carry the plan out, and examine the log afterwards."""
    context = get_context("fork")
    with TemporaryDirectory(prefix="commonhold-bench-") as folder, _without_daemon():
        with commonhold.open(folder, agent="planner") as hold:
            hold.add_tasks(*plan.tasks)
        chance = random.Random(sizes.seed)  # noqa: S311 - as above
        begin = context.Event()
        ready = context.Semaphore(0)
        may_go = context.RawValue(c_bool)  # it has no lock that a killed process could take along

        def start(number: int) -> BaseProcess:
            arguments = (folder, f"agent-{number}", dict(plan.seconds), sizes, begin, ready, may_go)
            process = context.Process(target=_work, args=arguments, daemon=True)
            process.start()
            return process

        workers = [start(number) for number in range(agents)]
        for _ in workers:
            ready.acquire()
        begun = time.monotonic()
        begin.set()
        dead = 0
        while any(each.is_alive() for each in workers):
            if dead < killed and time.monotonic() - begun > (dead + 1) * sizes.median_seconds * 1.5:
                victim = chance.choice([each for each in workers if each.is_alive()])
                os.kill(victim.pid or 0, signal.SIGKILL)
                victim.join()
                dead += 1
                workers.append(start(agents + dead))
            if dead == killed:
                may_go.value = True
            time.sleep(_POLL_SECONDS)
        took = time.monotonic() - begun
        with commonhold.open(folder, agent="planner") as hold:
            return _examined(plan, agents, took, dead, hold.log(after=0, limit=_MOST_EVENTS))


class _without_daemon:  # noqa: N801 - used as a block
    """Let the processes use the state directly: the daemon would only be measured as well."""

    def __enter__(self) -> None:
        self._before = os.environ.get("COMMONHOLD_DAEMON")
        os.environ["COMMONHOLD_DAEMON"] = "off"

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            del os.environ["COMMONHOLD_DAEMON"]
        else:
            os.environ["COMMONHOLD_DAEMON"] = self._before


def _work(
    folder: str,
    name: str,
    seconds: Mapping[str, float],
    sizes: Sizes,
    begin: Event,
    ready: Semaphore,
    may_go: c_bool,
) -> None:
    """Be one agent: claim, think, end; until every task has landed, and it `may_go`: all were killed that are to be."""
    with commonhold.open(folder, agent=name) as hold:
        ready.release()
        begin.wait()
        while True:
            answer = hold.claim_task(ttl_seconds=sizes.ttl_seconds)
            if answer.outcome == "claimed":
                record = answer.tasks[0].record
                _think(hold, seconds[record.id], sizes, answer.lease.id if answer.lease else "")
                action = commonhold.TaskAction.UNCHANGED
                hold.change_task(record.id, action, fence=record.fence, note="thought about it")
            elif answer.waiting:
                time.sleep(_IDLE_PART * sizes.median_seconds)
            else:
                while not may_go.value:
                    time.sleep(_POLL_SECONDS)
                return


def _think(hold: commonhold.Commonhold, seconds: float, sizes: Sizes, lease_id: str) -> None:
    """Think, and show signs of life meanwhile."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, sizes.ttl_seconds / 3))
        if until > time.monotonic():
            hold.renew(lease_id, ttl_seconds=sizes.ttl_seconds)


def _examined(plan: Plan, agents: int, took: float, killed: int, log: Sequence[Recorded]) -> Run:
    """Count in the log what was done twice, lost, out of order, or beside a task that it collides with."""
    tasks = {each.id: each for each in plan.tasks}
    landed: Counter[str] = Counter()
    claims: Counter[str] = Counter()
    running: dict[str, float] = {}
    disordered = together = 0
    wasted = 0.0
    for recorded in log:
        event = recorded.event
        if not isinstance(event, TaskMoved):
            continue
        if event.move is Move.CLAIM:
            disordered += any(not landed[need] for need in tasks[event.task_id].needs)
            together += any(_collide(tasks[event.task_id], tasks[other]) for other in running)
            disordered += event.task_id in running
            claims[event.task_id] += 1
            running[event.task_id] = recorded.at
        elif event.move is Move.LAND:
            landed[event.task_id] += 1
        else:
            began = running.pop(event.task_id, recorded.at)
            wasted += recorded.at - began if event.move is Move.RETURN else 0.0
    twice = sum(count > 1 for count in landed.values())
    lost = sum(not landed[each] for each in tasks)
    return Run(agents, took, plan.allows(agents, wasted), twice, lost, disordered, together, killed, claims)


def _collide(one: Task, other: Task) -> bool:
    return any(overlaps(canonical(mine), canonical(theirs)) for mine in one.keys for theirs in other.keys)


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.coordination", description=__doc__)
    parser.add_argument("--median", type=float, default=Sizes.median_seconds, help="the median of thinking, in seconds")
    parser.add_argument("--killed", type=int, default=Sizes.killed)
    parser.add_argument("--seed", type=int, default=Sizes.seed)
    chosen = parser.parse_args()
    ttl = max(1.0, 3 * chosen.median)
    sizes = Sizes(median_seconds=chosen.median, killed=chosen.killed, ttl_seconds=ttl, seed=chosen.seed)
    report("coordination", measure(sizes))


if __name__ == "__main__":
    main()
