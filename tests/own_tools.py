"""A working tree in which agents write with tools of their own: the service on one side, a tool's hand on the other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes import CountingIds, FakeClock

from commonhold.api.service import Service
from commonhold.code.regions.region import hash_bytes
from commonhold.commits.use_cases import Surroundings
from commonhold.kernel.answers import CommitAnswer, RecordAnswer
from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op
from commonhold.kernel.events import Committed, Recorded
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.options import Options
from commonhold.kernel.ports import Step, Store, no_step
from commonhold.kernel.write_slots import SLOT_SECONDS, slot_of
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

F = "def f():\n    return 1\n"
G = "def g():\n    return 2\n"
SOURCE = f"{F}\n\n{G}"
Files = Mapping[str, str | bytes | None]
"""What files are to hold, by path; None: to be gone."""


@dataclass
class Workshop:
    """One state, and working trees by name; each service has a store of its own, as a process would."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountingIds = field(default_factory=CountingIds)
    options: Options = field(default_factory=Options)
    opened: list[Service] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    store: Callable[[str], Store] = lambda folder: SqliteStore(folder, synchronous="OFF")

    def __post_init__(self) -> None:
        self.write("a.py", SOURCE)

    def service(
        self, agent: str | None, tree: str = "root", *, registry: Registry | None = None, at_step: Step = no_step
    ) -> Service:
        self.folder.joinpath(tree).mkdir(exist_ok=True)
        service = Service(
            store=self.store(str(self.folder / "state")),
            files=WorkingTree(str(self.folder / tree), max_file_bytes=100_000, at_step=at_step),
            clock=self.clock,
            ids=self.ids,
            agent=agent,
            options=self.options,
            surroundings=Surroundings(registry, is_running=self.running.__contains__),
            at_step=at_step,
        )
        self.opened.append(service)
        return service

    def hand(self, agent: str, tree: str = "root", *, registry: Registry | None = None) -> "Hand":
        return Hand(self, self.service(agent, tree, registry=registry))

    def path(self, path: str, tree: str = "root") -> Path:
        return self.folder / tree / path

    def write(self, path: str, data: str | bytes | None, tree: str = "root") -> None:
        """As a program does that asks nobody."""
        target = self.path(path, tree)
        if data is None:
            target.unlink()
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)

    def text(self, path: str = "a.py", tree: str = "root") -> str:
        return self.path(path, tree).read_text()

    def close(self) -> None:
        for service in self.opened:
            service.close()


@dataclass
class Hand:
    """What one agent's hooks and its tool do, one after the other."""

    shop: Workshop
    service: Service
    meant: dict[str, Files] = field(default_factory=dict)

    @property
    def tree(self) -> str:
        return Path(self.service.root).name

    def propose(
        self, files: Files, *, call: str = "call", blind: Sequence[str] = (), intent: str = "mend it"
    ) -> CommitAnswer:
        """What the hook before the tool does: the write slot first, then the question."""
        slots = [str(slot_of(self.service.worktree_id(), path)) for path in files]
        slot = self.service.acquire(*slots, task=intent, ttl_seconds=SLOT_SECONDS).lease
        assert slot is not None
        edits = tuple(edit for path, data in files.items() if (edit := self._edit(path, data)))
        changeset = Changeset(edits, intent, leases=(LeaseRef(slot.id, slot.fence),), merge=False)
        answer = self.service.propose(changeset, call=call, blind=blind)
        if answer.outcome == "refused":
            self.service.release(slot.id)
        else:
            self.meant[call] = files
        return answer

    def _edit(self, path: str, data: str | bytes | None) -> Edit | None:
        target = self.shop.path(path, self.tree)
        was = target.read_bytes() if target.exists() else None
        new = data.encode() if isinstance(data, str) else data
        if was is None:
            return Edit(Op.CREATE_FILE, path, data=new)
        if new is None:
            return Edit(Op.DELETE_FILE, path, base=hash_bytes(was))
        return Edit(Op.REWRITE, path, base=hash_bytes(was), data=new)

    def write(self, call: str = "call") -> None:
        """What the tool does."""
        for path, data in self.meant[call].items():
            self.shop.write(path, data, self.tree)

    def finish_proposal(self, call: str = "call") -> RecordAnswer:
        """What the hook after the tool does."""
        return self.service.finish_proposal(call, tuple(self.meant.get(call, ())))

    def edit(
        self, files: Files, *, call: str = "call", blind: Sequence[str] = (), intent: str = "mend it"
    ) -> RecordAnswer:
        """All three, of an edit that must be admitted."""
        answer = self.propose(files, call=call, blind=blind, intent=intent)
        assert answer.outcome == "committed", answer
        self.write(call)
        return self.finish_proposal(call)

    def leased(self) -> list[str]:
        """The regions that are leased to it."""
        return sorted(key for lease in self.service.leases(holder=self.service.holder) for key in lease.keys)


@contextmanager
def workshop(folder: Path, options: Options | None = None) -> Iterator[Workshop]:
    """A workshop until the end of the block."""
    shop = Workshop(folder, options=options or Options())
    try:
        yield shop
    finally:
        shop.close()


def commits(service: Service) -> list[Committed]:
    """What was recorded of files, oldest first."""
    return [each.event for each in service.log(after=0, limit=10_000) if _is_commit(each)]  # type: ignore[misc]


def _is_commit(recorded: Recorded) -> bool:
    return isinstance(recorded.event, Committed)
