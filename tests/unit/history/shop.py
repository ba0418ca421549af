"""A folder, and sessions that share its state."""

from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes import CountingIds, FakeClock
from tests.in_memory.store import MemoryStore

from commonhold.api.service import Service
from commonhold.history.answers import Account, Step
from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op
from commonhold.kernel.lease import Lease
from commonhold.workspace.files import WorkingTree

SOURCE = "def f(x):\n    return x\n\n\ndef g(x):\n    return x + 1\n"


@dataclass
class Shop:
    """A folder, and sessions that share its state."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountingIds = field(default_factory=CountingIds)
    store: MemoryStore = field(default_factory=MemoryStore)
    services: dict[str, Service] = field(default_factory=dict)

    def session(self, name: str) -> Service:
        if name not in self.services:
            files = WorkingTree(str(self.folder))
            self.services[name] = Service(store=self.store, files=files, clock=self.clock, ids=self.ids, agent=name)
        return self.services[name]

    def replace(self, name: str, base: str, text: str, intent: str = "") -> None:
        edit = Edit(Op.REPLACE, "a.py#f", base, text)
        self.session(name).commit(Changeset((edit,), intent, merge=False))

    def replace_g(self, name: str, text: str, lease: Lease | None = None) -> None:
        """Commit a new text of `g`, perhaps under a lease."""
        base = self.session(name).read("a.py#g")[0].hash
        leases = (LeaseRef(lease.id, lease.fence),) if lease else ()
        self.session(name).commit(Changeset((Edit(Op.REPLACE, "a.py#g", base, text),), leases=leases))

    def explain(self, what: object) -> Account:
        return self.session("person").explain(str(what))

    def newest(self) -> Step:
        """Return the explanation of the newest event."""
        (step,) = self.explain(self.session("person").log(limit=1)[0].sequence).steps
        return step
