"""Two agents at work, written down.

A process of its own: `python -m tests.crashes.story ROOT SEED SYNCHRONOUS STEPS OUTPUT`.

For the same seed and root it is the same story, to the byte. SYNCHRONOUS is SQLite's setting, for agents that each open
the state; or DAEMON: they share one store, as in the daemon.
"""

import pickle
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import apsw
from tests.crashes.chronicle import STATE, Answered, Chronicle, Settled, files_of
from tests.crashes.counted import counted
from tests.crashes.disk import Image
from tests.crashes.ledger import fingerprint, log_of
from tests.crashes.recorder import Recorder, recording

from commonhold import Changeset, Edit, Op, bootstrap
from commonhold.api.service import Service
from commonhold.bootstrap import Shared, compose, open_repository
from commonhold.commits.turns import Turns
from commonhold.config import load_settings
from commonhold.stores.sqlite.mirror import MirroredStore
from commonhold.stores.sqlite.session import SqliteSession
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.repository import find_repository

AGENTS: Final = ("ann", "bob")
KEYS: Final = (*(f"account:{number}" for number in range(12)), "customer:acme:in", "a.py#f", "pkg/")
STEPS: Final = 60
DAEMON: Final = "DAEMON"
# SQLite's own figure is 1,000 pages, which a short story would never reach.
PAGES_BETWEEN_CHECKPOINTS: Final = 48
BEFORE: Final[Image] = {STATE: None, "a.py": b"def f():\n    return 'a'\n", "pkg": None, "pkg/c.txt": b"c\n"}


class Story:
    """What the agents do, by chance."""

    def __init__(self, root: Path, seed: int, recorder: Recorder, *, is_daemon: bool = False) -> None:
        self._name = f"story-{seed}"
        self._dice = random.Random(seed)
        self._root = root
        self._recorder = recorder
        self._agents: dict[str, Service] = {}
        self._leases: list[tuple[str, str]] = []
        self._requests = 0
        self._is_daemon = is_daemon
        self._shared: Shared | None = None
        self.trees = [files_of(root)]

    def tell(self, steps: int) -> None:
        """All of it, from the first opening to the last closing."""
        self._agent(AGENTS[0]).recover()
        acts: tuple[Callable[[], None], ...] = (self.acquire, self.renew, self.release, self.commit, self.reopen)
        for _ in range(steps):
            (act,) = self._dice.choices(acts, (10, 4, 5, 6, 2))
            act()
        self.acquire()
        for agent in self._agents.values():
            agent.close()

    def acquire(self) -> None:
        name, agent = self._somebody()
        keys = self._dice.sample(KEYS, self._dice.randint(1, 2))
        ttl = self._dice.choice((600.0, 600.0, 20 * 0.125))
        answer = agent.acquire(
            *keys, task="t" * self._dice.randint(0, 400), ttl_seconds=ttl, request_id=self._request()
        )
        if answer.lease is not None:
            self._leases.append((name, answer.lease.id))
        self._answered(answer.lease.fence if answer.lease else None)

    def renew(self) -> None:
        if self._leases:
            name, lease_id = self._dice.choice(self._leases)
            self._agent(name).renew(lease_id, ttl_seconds=600.0, request_id=self._request())
            self._answered()

    def release(self) -> None:
        if self._leases:
            name, lease_id = self._leases.pop(self._dice.randrange(len(self._leases)))
            self._agent(name).release(lease_id, request_id=self._request())
            self._answered()

    def commit(self) -> None:
        _, agent = self._somebody()
        answer = agent.commit(Changeset(intent="go on", request_id=self._request(), edits=tuple(self._edits(agent))))
        if answer.outcome != "refused":
            self.trees.append(files_of(self._root))
        self._answered()

    def reopen(self) -> None:
        for agent in self._agents.values():
            agent.close()
        self._agents.clear()
        self._shared = None

    def _edits(self, agent: Service) -> Iterator[Edit]:
        """A function and a file rewritten; another file made, then renamed, then deleted."""
        function, text = agent.read("a.py#f", "pkg/c.txt")
        yield Edit(Op.REPLACE, function.key, function.hash, f"def f():\n    return {self._words()!r}\n")
        yield Edit(Op.REPLACE, text.key, text.hash, self._words())
        if "made" not in self.trees[-1]:
            yield Edit(Op.CREATE_FILE, "made/new.txt", text=self._words())
        for path in sorted(self.trees[-1].keys() & {"made/new.txt", "pkg/moved.txt"}):
            (found,) = agent.read(path)
            is_new = path == "made/new.txt"
            to = "pkg/moved.txt" if is_new else None
            yield Edit(Op.RENAME_FILE if is_new else Op.DELETE_FILE, found.key, found.hash, to=to)

    def _words(self) -> str:
        return self._dice.randbytes(self._dice.choice((10, 300, 3_000))).hex() + "\n"

    def _somebody(self) -> tuple[str, Service]:
        name = self._dice.choice(AGENTS)
        return name, self._agent(name)

    def _agent(self, name: str) -> Service:
        if name not in self._agents:
            self._agents[name] = self._opened(name)
        return self._agents[name]

    def _opened(self, name: str) -> Service:
        if not self._is_daemon:
            return open_repository(str(self._root), agent=name)
        repository = find_repository(str(self._root))
        if self._shared is None:
            store = MirroredStore(repository.state)
            store.own()
            self._shared = Shared(store=store, turns=Turns(is_complete=True))
        return compose(repository, load_settings(repository.root), agent=name, shared=self._shared)

    def _request(self) -> str:
        self._requests += 1
        return f"{self._name}-{self._requests}"

    def _answered(self, fence: int | None = None) -> None:
        self._recorder.mark(Answered(fence))


@contextmanager
def transactions_marked(mark: Callable[[Settled], None]) -> Iterator[None]:
    """Have the state noted after each transaction of any store; one inside another is part of it."""
    depth = 0

    def marked(real: Callable[[Any], AbstractContextManager[SqliteSession]]) -> Callable[[Any], object]:
        @contextmanager
        def write(store: SqliteStore) -> Iterator[SqliteSession]:
            nonlocal depth
            depth += 1
            try:
                with real(store) as session:
                    yield session
            finally:
                depth -= 1
            if depth == 0:
                with store.read() as session:
                    mark(Settled(fingerprint(session)))

        return write

    with (
        patch.object(SqliteStore, "write", marked(SqliteStore.write)),
        patch.object(MirroredStore, "write_unawaited", marked(MirroredStore.write_unawaited)),
    ):
        yield


@contextmanager
def configured(synchronous: str) -> Iterator[None]:
    """Have every store opened with `synchronous`, and checkpoints made often."""
    real = SqliteStore.__init__

    def set_up(store: SqliteStore, folder: str, **more: Any) -> None:
        real(store, folder, **(more if synchronous == DAEMON else more | {"synchronous": synchronous}))

    apsw.connection_hooks.append(lambda connection: connection.wal_autocheckpoint(PAGES_BETWEEN_CHECKPOINTS))
    with patch.object(SqliteStore, "__init__", set_up):
        yield


def told(root: Path, seed: int, synchronous: str, steps: int) -> Chronicle:
    """The chronicle of one story."""
    with (
        counted(f"story-{seed}"),
        recording(root) as recorder,
        transactions_marked(recorder.mark),
        configured(synchronous),
        # The index is a cache by the disk's own stamps: what it writes is no part of a story that is told again.
        patch.object(bootstrap, "open_insight", lambda *_: None),
    ):
        story = Story(root, seed, recorder, is_daemon=synchronous == DAEMON)
        story.tell(steps)
    with SqliteStore(str(root / STATE)).read() as session:
        log = log_of(session)
    with SqliteStore(str(root / "nothing")).read() as session:
        empty = fingerprint(session)
    return Chronicle(recorder.before, tuple(recorder.deeds), empty, log, tuple(story.trees))


def main(root: str, seed: str, synchronous: str, steps: str, output: str) -> None:
    """Tell a story, and leave its chronicle in a file."""
    Path(output).write_bytes(pickle.dumps(told(Path(root), int(seed), synchronous, int(steps))))


if __name__ == "__main__":
    main(*sys.argv[1:])
