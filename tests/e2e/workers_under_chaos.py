"""Workers and supervisors are killed at random, and the broker is flushed: each session ends once, with its work.

`make stress` runs it. COMMONHOLD_CHAOS_SEED repeats the order of the faults, not their exact times.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from typing import Final

import pytest
from tests.e2e.cli_driver import git
from tests.e2e.session_firm import NAMESPACE, Firm, opened
from tests.patience import until
from tests.services.fixtures import NewRedis
from tests.services.postgres_server import Database

from commonhold import EndCause, SessionState
from commonhold.sessions.wakes import send_wake

SESSIONS, FAULTS, PAUSE_SECONDS = 24, 30, 1.0
MACHINES: Final = ("one", "two", "three")


@pytest.fixture
def firm(tmp_path: Path, database: Database, new_redis: NewRedis) -> Iterator[Firm]:
    with opened(tmp_path, database, new_redis()) as made:
        yield made


def queued(firm: Firm, agent: str) -> str:
    """Start a session whose base all clones have."""
    (view,) = firm.hold.start_managed_session("fix it", agent=agent, remote="origin", most_attempts=20).sessions
    return view.record.id


def supervisors(firm: Firm) -> list[int]:
    """The supervisors that run, without the processes that guard them: these must end the agents of those killed."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            pid = int(each.parent.name)
            if f"commonhold.session_host\0{firm.folder}/".encode() in each.read_bytes() and os.getsid(pid) == pid:
                found.append(pid)
    return found


class Chaos:
    """Workers that are killed and started again, and all other faults."""

    def __init__(self, firm: Firm, stack: ExitStack, chance: Random) -> None:
        self.firm, self.stack, self.chance = firm, stack, chance
        self.workers = {name: stack.enter_context(firm.worker(name)) for name in MACHINES}
        for worker in self.workers.values():
            worker.until_said("worker of")

    def strike(self) -> None:
        match self.chance.choice(("worker", "supervisor", "flush", "wakes")):
            case "worker":
                name = self.chance.choice(MACHINES)
                self.workers[name].running.kill()
                self.workers[name].running.wait()
                self.workers[name] = self.stack.enter_context(self.firm.worker(name))
            case "supervisor":
                found = supervisors(self.firm)
                for pid in self.chance.sample(found, min(2, len(found))):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            case "flush":
                self.firm.broker.empty()
            case "wakes":
                for _ in range(5):
                    send_wake(self.firm.broker.url, NAMESPACE)


def test_each_session_ends_once_with_its_work(firm: Firm) -> None:
    seed = int(os.environ.get("COMMONHOLD_CHAOS_SEED", time.time_ns()))
    # An agent whose session runs elsewhere, too, does not get the lock; the kernel frees it with the process.
    lock, doubled = f"{firm.folder}/$COMMONHOLD_AGENT.lock", firm.folder / "doubled"
    line = f"echo 1 > work.txt; flock -n {lock} sleep 2 || echo $COMMONHOLD_AGENT >> {doubled}"
    with ExitStack() as stack:
        chaos = Chaos(firm, stack, Random(seed))
        sessions = [queued(firm, f"{line}; : {{prompt_file}}") for _ in range(SESSIONS)]
        for _ in range(FAULTS):
            chaos.strike()
            time.sleep(PAUSE_SECONDS)
        for session in sessions:
            firm.until(session, SessionState.AWAITING_REVIEW)
        until(lambda: not supervisors(firm), what="supervisors end")
    records = [firm.record(session) for session in sessions]
    assert not doubled.exists(), f"{doubled.read_text()} (seed {seed})"
    assert sum(record.attempt for record in records) > SESSIONS, f"no supervisor was lost (seed {seed})"
    for record in records:
        assert all(each.cause is EndCause.LOST for each in record.attempts[:-1]), (record, seed)
        assert record.result is not None
        git(firm.folder / "remote.git", "cat-file", "-e", f"{record.result.snapshot}:work.txt")
