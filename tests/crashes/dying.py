"""Operations in child processes that kill themselves before a chosen statement, file operation or step.

Run by `test_kill.py`: `python -m tests.crashes.dying [MUTANT]`; see `main` for what it reads and says.
"""

import gc
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Final
from unittest.mock import patch

import apsw
from tests.crashes.chronicle import Settled
from tests.crashes.counted import counted
from tests.crashes.disk import Image, write_tree
from tests.crashes.mutants import MUTANTS
from tests.crashes.story import transactions_marked
from tests.e2e.crashing_commit import Killer

from commonhold import Changeset, Edit, Op
from commonhold.api.service import Service
from commonhold.bootstrap import open_repository
from commonhold.history.answers import CompactionAnswer
from commonhold.kernel.answers import Answer
from commonhold.kernel.events import LeaseGranted
from commonhold.stores.sqlite import store
from commonhold.stores.sqlite.session import SqliteSession

NEVER: Final = 1_000_000
OLD: Final[Image] = {"a.py": b"def f():\n    return 'old'\n", "c.txt": b"moved\n", "pkg": None, "pkg/b.txt": b"old\n"}
NEW: Final[Image] = {
    "a.py": b"def f():\n    return 'new'\n",
    "made": None,
    "made/d.txt": b"new\n",
    "pkg": None,
    "pkg/b.txt": b"new\n",
    "pkg/c.txt": b"moved\n",
}
REQUEST: Final = "once"
Act = Callable[[], Answer | CompactionAnswer]


def text(image: Image, path: str) -> str:
    """What is in a file of an image."""
    return (image[path] or b"").decode()


def base(path: str) -> str:
    """The hash of an old file."""
    return sha256(OLD[path] or b"").hexdigest()


CHANGESET: Final = Changeset(
    intent="all at once",
    request_id=REQUEST,
    edits=(
        Edit(Op.REPLACE, "a.py", base("a.py"), text(NEW, "a.py")),
        Edit(Op.REPLACE, "pkg/b.txt", base("pkg/b.txt"), text(NEW, "pkg/b.txt")),
        Edit(Op.CREATE_FILE, "made/d.txt", text=text(NEW, "made/d.txt")),
        Edit(Op.RENAME_FILE, "c.txt", base("c.txt"), to="pkg/c.txt"),
    ),
)


def prepare(hold: Service) -> Act:
    """Something that is there before: a lease of the agent's own."""
    return lambda: hold.acquire("account:1", "pkg/", ttl_seconds=600.0)


def acquire(hold: Service) -> Act:
    """A lease on a region and a name."""
    return lambda: hold.acquire("account:2", "a.py#f", task="once", ttl_seconds=600.0, request_id=REQUEST)


def renew(hold: Service) -> Act:
    """The lease that was there before, renewed."""
    lease_id = lease_of(hold)
    return lambda: hold.renew(lease_id, ttl_seconds=900.0, request_id=REQUEST)


def release(hold: Service) -> Act:
    """The lease that was there before, released."""
    lease_id = lease_of(hold)
    return lambda: hold.release(lease_id, request_id=REQUEST)


def commit(hold: Service) -> Act:
    """Files rewritten, made and renamed."""
    return lambda: hold.commit(CHANGESET)


def compact(hold: Service) -> Act:
    """All old events, replaced by a snapshot."""
    return hold.compact_log


def lease_of(hold: Service) -> str:
    """The first lease that was granted."""
    events = (recorded.event for recorded in hold.log(after=0))
    return next(event.lease.id for event in events if isinstance(event, LeaseGranted))


OPERATIONS: Final = {act.__name__: act for act in (prepare, acquire, renew, release, commit, compact)}


def watched(killer: Killer) -> Killer:
    """Have everything in this process counted, as long as the killer is armed."""

    def before_statement(*_: object) -> bool:
        killer.count()
        return True

    sys.addaudithook(killer.hear)
    apsw.connection_hooks.append(lambda connection: connection.set_exec_trace(before_statement))
    return killer


def say(*words: object) -> None:
    """A line, at once: what was said must not die with the process."""
    os.write(sys.stdout.fileno(), (" ".join(map(str, words)) + "\n").encode())


def say_settled(settled: Settled) -> None:
    """What the state was after a transaction."""
    say("settled", settled.fingerprint)


def act_in(root: str, operation: str, killer: Killer, times: int = 1) -> Iterator[Answer | CompactionAnswer]:
    """Do an operation in this process: its answers."""
    with counted(operation), open_repository(root, agent="ann", at_step=lambda _: killer.count()) as hold:
        act = OPERATIONS[operation](hold)
        for _ in range(times):
            killer.is_armed = True
            answer = act()
            killer.is_armed = False
            yield answer


def act_as_child(root: str, operation: str, kill_at: int, times: int) -> None:
    """Do an operation, and tell what was answered if it comes to that."""
    with transactions_marked(say_settled) if kill_at == NEVER else nullcontext():
        for answer in act_in(root, operation, watched(Killer(kill_at)), times):
            say("answered", answer.outcome, sha256(repr(answer).encode()).hexdigest())


def warm_up() -> None:
    """Load here, once, what every child would load."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "work"
        write_tree(root, OLD)
        for operation in ("prepare", "commit"):
            list(act_in(str(root), operation, Killer(NEVER)))
    gc.freeze()


def serve(line: str) -> None:
    """Do what a line says in a fresh child, then say how the child ended."""
    operation, kill_at, times, root = line.rstrip("\n").split(" ", 3)
    child = os.fork()
    if child == 0:
        act_as_child(root, operation, int(kill_at), int(times))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    say("ended", os.waitstatus_to_exitcode(status))


def main(mutant: str = "") -> None:
    """For each line `OPERATION KILL_AT TIMES ROOT`: `settled FINGERPRINT`, `answered OUTCOME DIGEST`, `ended CODE`."""
    with patch.object(store, "SqliteSession", MUTANTS.get(mutant, SqliteSession)):
        warm_up()
        for line in sys.stdin:
            serve(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
