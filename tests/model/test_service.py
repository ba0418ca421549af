"""The real service beside a naive model: whatever a few agents do, both say the same (I1, I2, I3, I5, I8, I9)."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.effort import examples
from tests.fakes import CountingIds, FakeClock
from tests.model.naive import HEADER, Held, Model, function

from commonhold.api.service import Service
from commonhold.code.regions.region import hash_bytes
from commonhold.history.replay import replay
from commonhold.kernel.answers import AcquireAnswer, Answer, CommitAnswer
from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op, Read
from commonhold.kernel.events import Committed, LeaseExpired, LeaseRenewed, WorkLeft
from commonhold.kernel.keys import canonical
from commonhold.kernel.modes import Mode
from commonhold.kernel.options import Options
from commonhold.kernel.projection import State, fold
from commonhold.stores.codec import encode
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

FUNCTIONS = ("a.py#f", "a.py#g", "b.py#f")
KEYS = ("./", "a.py", "b.py", "a.py" + HEADER, *FUNCTIONS)
holders = st.sampled_from(("one", "two", "three"))
key_sets = st.sets(st.sampled_from(KEYS), min_size=1, max_size=3)
functions = st.sampled_from(FUNCTIONS)
numbers = st.integers(0, 3)
READ = {hash_bytes(text): text for text in (function(name, n).encode() for name in "fg" for n in range(4))}
"""What agents have read at some time: whatever they begin an edit from, it is kept."""
lease_numbers = st.integers(1, 20)


class Agents(RuleBasedStateMachine):
    """Three agents, two files, one clock."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "work"
        self.root.mkdir()
        self.clock, self.ids = FakeClock(), CountingIds()
        self.model = Model()
        self.requests = 0
        self.repeat = self.nothing
        self.store = SqliteStore(str(self.folder / "state"), synchronous="OFF")
        self.reopen()

    def nothing(self) -> tuple[Answer, Answer] | None:
        return None

    @initialize(numbers=st.tuples(numbers, numbers, numbers))
    def begin(self, numbers: tuple[int, int, int]) -> None:
        self.model.files = {"a.py": {"f": numbers[0], "g": numbers[1]}, "b.py": {"f": numbers[2]}}
        for path in self.model.files:
            self.root.joinpath(path).write_text(self.model.text(path))
        with self.store.write() as writer:
            writer.keep(READ.items(), self.clock.now().wall)

    @rule()
    def reopen(self) -> None:
        """Begin a new process on the same state."""
        self.store.close()
        self.store = SqliteStore(str(self.folder / "state"), synchronous="OFF")
        self.services = {
            holder: Service(
                store=self.store,
                files=WorkingTree(str(self.root)),
                clock=self.clock,
                ids=self.ids,
                agent=holder,
                options=Options(retention_seconds=1e6),
            )
            for holder in ("one", "two", "three")
        }

    def request(self) -> str:
        self.requests += 1
        return f"request-{self.requests}"

    @rule(holder=holders, keys=key_sets, mode=st.sampled_from(Mode), ttl=st.sampled_from((5.0, 20.0)))
    def acquire(self, holder: str, keys: set[str], mode: Mode, ttl: float) -> None:
        request = self.request()

        def ask() -> AcquireAnswer:
            return self.services[holder].acquire(*sorted(keys), mode=mode, ttl_seconds=ttl, request_id=request)

        answer = ask()
        self.model.hear(holder)
        self.repeat = lambda: (answer, self.heard(holder, ask))
        assert (answer.lease is not None) == self.model.is_free(holder, frozenset(keys), mode)
        if answer.lease is not None:
            assert answer.lease.fence > self.model.fence
            self.model.fence = answer.lease.fence
            self.model.leases[answer.lease.id] = Held(
                answer.lease.id, answer.lease.fence, holder, frozenset(keys), mode, ttl, self.clock.seconds + ttl
            )

    def heard(self, holder: str, ask: Callable[[], AcquireAnswer]) -> AcquireAnswer:
        """Repeat a call that is a sign of life, whatever it is answered."""
        self.model.hear(holder)
        return ask()

    @rule(holder=holders, number=lease_numbers, ttl=st.sampled_from((1.0, 20.0)))
    def renew(self, holder: str, number: int, ttl: float) -> None:
        lease_id, request = f"lease-{number}", self.request()
        answer = self.services[holder].renew(lease_id, ttl_seconds=ttl, request_id=request)
        self.model.hear(holder, besides=lease_id)
        self.repeat = lambda: (answer, self.services[holder].renew(lease_id, ttl_seconds=ttl, request_id=request))
        assert (answer.outcome == "renewed") == self.model.holds(holder, lease_id)
        if answer.outcome == "renewed":
            self.model.leases[lease_id].ends = self.clock.seconds + ttl
            self.model.leases[lease_id].ttl = ttl

    @rule(holder=holders, number=lease_numbers)
    def release(self, holder: str, number: int) -> None:
        lease_id, request = f"lease-{number}", self.request()
        answer = self.services[holder].release(lease_id, request_id=request)
        self.model.hear(holder, besides=lease_id)
        self.repeat = lambda: (answer, self.services[holder].release(lease_id, request_id=request))
        assert (answer.outcome == "released") == self.model.holds(holder, lease_id)
        if answer.outcome == "released":
            del self.model.leases[lease_id]

    @rule(seconds=st.sampled_from((0.5, 4.0, 10.0)))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.model.seconds += seconds

    @rule()
    def reboot(self) -> None:
        self.clock.reboot()
        self.model.leases.clear()

    @rule()
    def ask_again(self) -> None:
        """Repeat the last request: the first answer is given, and nothing is done twice."""
        with self.store.read() as reader:
            before = reader.next_sequence - 1
        answers = self.repeat()
        if answers is not None:
            assert encode(answers[0]) == encode(answers[1])
            with self.store.read() as reader:
                since = reader.events(after=before)
            assert all(isinstance(each.event, LeaseRenewed | LeaseExpired | WorkLeft) for each in since)

    @rule(path=st.sampled_from(("a.py", "b.py")), name=st.sampled_from("fg"), number=numbers)
    def write_from_outside(self, path: str, name: str, number: int) -> None:
        if name in self.model.files.get(path, ()):
            self.model.files[path][name] = number
            self.root.joinpath(path).write_text(self.model.text(path))

    @rule(holder=holders, key=functions, number=numbers, seen=numbers, lease=st.none() | lease_numbers)
    def replace(self, holder: str, key: str, number: int, seen: int, lease: int | None) -> None:
        """Replace a function that was read when it gave `seen`."""
        path, _, name = key.partition("#")
        base = hash_bytes(function(name, seen).encode())
        if self.model.files.get(path, {}).get(name) is None:
            return
        edit = Edit(Op.REPLACE, key, base=base, text=function(name, number))
        answer = self.commit(holder, Changeset((edit,), request_id=self.request(), leases=self.refs(lease)))
        merged = self.model.merged(path, name, seen, number)
        self.check(answer, holder, frozenset({key}), lease, is_current=merged is not None)
        if answer.outcome != "refused":
            assert (answer.outcome == "committed") == (self.model.files[path][name] == seen)
            assert merged is not None
            self.model.files[path][name] = merged

    @rule(holder=holders, numbers=st.tuples(numbers, numbers), seen=numbers, relied=numbers)
    def replace_both(self, holder: str, numbers: tuple[int, int], seen: int, relied: int) -> None:
        """Replace a function in each file, relying on a third: all or nothing."""
        if "b.py" not in self.model.files:
            return
        a, b = self.model.files["a.py"], self.model.files["b.py"]
        edits = (
            Edit(Op.REPLACE, "a.py#f", hash_bytes(function("f", a["f"]).encode()), function("f", numbers[0])),
            Edit(Op.REPLACE, "b.py#f", hash_bytes(function("f", seen).encode()), function("f", numbers[1])),
        )
        reads = (Read("a.py#g", hash_bytes(function("g", relied).encode())),)
        answer = self.commit(holder, Changeset(edits, request_id=self.request(), reads=reads))
        merged = self.model.merged("b.py", "f", seen, numbers[1])
        is_current = merged is not None and a["g"] == relied
        self.check(answer, holder, frozenset({"a.py#f", "b.py#f"}), None, is_current=is_current)
        if answer.outcome != "refused":
            assert merged is not None
            a["f"], b["f"] = numbers[0], merged

    @rule(holder=holders, lease=st.none() | lease_numbers)
    @precondition(lambda self: "b.py" in self.model.files)
    def delete(self, holder: str, lease: int | None) -> None:
        base = hash_bytes(self.model.text("b.py").encode())
        edit = Edit(Op.DELETE_FILE, "b.py", base=base)
        answer = self.commit(holder, Changeset((edit,), request_id=self.request(), leases=self.refs(lease)))
        self.check(answer, holder, frozenset({"b.py"}), lease, is_current=True)
        if answer.outcome == "committed":
            del self.model.files["b.py"]

    @rule(holder=holders, number=numbers)
    def create(self, holder: str, number: int) -> None:
        edit = Edit(Op.CREATE_FILE, "b.py", text=function("f", number))
        answer = self.commit(holder, Changeset((edit,), request_id=self.request()))
        self.check(answer, holder, frozenset({"b.py"}), None, is_current="b.py" not in self.model.files)
        if answer.outcome == "committed":
            self.model.files["b.py"] = {"f": number}

    def commit(self, holder: str, changeset: Changeset) -> CommitAnswer:
        answer = self.services[holder].commit(changeset)
        self.model.hear(holder)
        self.repeat = lambda: (answer, self.services[holder].commit(changeset))
        return answer

    def refs(self, lease: int | None) -> tuple[LeaseRef, ...]:
        lease_id = f"lease-{lease}"
        held = self.model.leases.get(lease_id)
        return () if lease is None else (LeaseRef(lease_id, held.fence if held else 0),)

    def check(
        self, answer: CommitAnswer, holder: str, keys: frozenset[str], lease: int | None, *, is_current: bool
    ) -> None:
        """The verdict is the one that the model gives, in the order of gravity."""
        expected = None
        if lease is not None and not self.model.holds(holder, f"lease-{lease}"):
            expected = "LEASE_LOST"
        elif not is_current:
            expected = "REGION_CHANGED"
        elif not self.model.is_free(holder, keys):
            expected = "LOCK_CONFLICT"
        assert answer.code == expected
        assert (answer.outcome == "refused") == (expected is not None)

    @invariant()
    def the_same_leases_live(self) -> None:
        live = self.services["one"].leases()
        assert {(lease.id, lease.fence, lease.holder, lease.deadline.ticks) for lease in live} == {
            (held.id, held.fence, held.holder, held.ends) for held in self.model.live()
        }

    @invariant()
    def the_same_bytes_are_there(self) -> None:
        found = {path.name: path.read_text() for path in self.root.iterdir()}
        assert found == {path: self.model.text(path) for path in self.model.files}

    @invariant()
    def the_log_explains_the_state(self) -> None:
        with self.store.read() as reader:
            log = reader.events(limit=1_000_000)
            commits: dict[str, tuple[int, ...]] = {}
            for path, sequence in reader._connection.execute("SELECT path, seq FROM commits ORDER BY seq"):
                commits[path] = (*commits.get(path, ()), sequence)
            tables = State(
                sequence=reader.next_sequence - 1,
                leases={lease.id: lease for lease in reader.leases()},
                waiters={waiter.id: waiter for waiter in reader.waiters()},
                lost={lease.id: lease for lease in reader.lost()},
                works={work.lease_id: work for work in reader.works()},
                values={value.key: value for value in reader.values()},
                debts={debt.place: debt for debt in reader.debts()},
                commits=commits,
            )
        assert [each.sequence for each in log] == list(range(1, len(log) + 1))
        assert encode(fold(log)) == encode(tables)

    @invariant()
    def leases_are_found_by_what_they_cover(self) -> None:
        with self.store.read() as reader:
            held = reader.leases()
            for text in KEYS:
                key = canonical(f"file:{text}")
                found = tuple(lease for lease in reader.overlapping([key]) if lease.covering(key))
                assert found == tuple(lease for lease in held if lease.covering(key))

    @invariant()
    def nothing_is_lost(self) -> None:
        """Whatever a commit overwrote is kept; no commit stays half done."""
        with self.store.read() as reader:
            assert reader.journals() == ()
            for each in reader.events(limit=1_000_000):
                changed = each.event.files if isinstance(each.event, Committed) else ()
                for file in changed:
                    assert file.before is None or hash_bytes(reader.content(file.before) or b"") == file.before

    def teardown(self) -> None:
        with self.store.read() as reader:
            assert replay(reader.events(limit=1_000_000)).difference is None
        self.store.close()
        shutil.rmtree(self.folder)


TestAgents = Agents.TestCase
TestAgents.settings = examples(0.5)
