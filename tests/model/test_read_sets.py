"""Read sets beside a naive model: whatever two agents read and write, both say who is told what, and who is refused."""

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.effort import examples
from tests.fakes import CountingIds, FakeClock

from commonhold.api.service import Service
from commonhold.kernel.changeset import Changeset, Edit, Op, Read
from commonhold.kernel.refusals import Refusal
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

NAMES = ("f", "g")
AGENTS = ("one", "two")
names = st.sampled_from(NAMES)
agents = st.sampled_from(AGENTS)


@dataclass
class Known:
    """What an agent knows of a function: whether it has read it, and what others have done since.

    `told` and `read` are the contract and body changes that it was not told of, and has not read.
    """

    is_read: bool = False
    untold: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


class Readers(RuleBasedStateMachine):
    """Two agents, two functions that both read and change, and a caller of each agent's own."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        (self.folder / "root").mkdir()
        self.contracts = dict.fromkeys(NAMES, 0)
        self.bodies = dict.fromkeys(NAMES, 0)
        self.known = {(agent, name): Known() for agent in AGENTS for name in NAMES}
        self.calls = dict.fromkeys(AGENTS, 0)
        self.called: dict[str, str] = {}
        (self.folder / "root/a.py").write_text("\n\n".join(map(self.function, NAMES)))
        for agent in AGENTS:
            text = f"from a import f, g\n\n\ndef use():\n    return ({', '.join(NAMES)})\n"
            (self.folder / f"root/{agent}.py").write_text(text)
        clock, ids = FakeClock(), CountingIds()
        self.services = {
            agent: Service(
                store=SqliteStore(str(self.folder / "state"), synchronous="OFF"),
                files=WorkingTree(str(self.folder / "root")),
                clock=clock,
                ids=ids,
                agent=agent,
            )
            for agent in AGENTS
        }

    def function(self, name: str) -> str:
        """Every contract takes the calls of the one before, so that only reading decides."""
        optional = "".join(f", p{number}=0" for number in range(self.contracts[name]))
        return f"def {name}(x{optional}):\n    return x + {self.bodies[name]}\n"

    def hash_of(self, agent: str, path: str, name: str) -> str:
        regions = self.services[agent].regions(path).regions
        return next(region.hash for region in regions if str(region.key) == f"file:{path}#{name}")

    @rule(agent=agents, name=names)
    def read(self, agent: str, name: str) -> None:
        self.services[agent].read(f"a.py#{name}")
        self.has_read(agent, name)

    @rule(agent=agents)
    def read_all(self, agent: str) -> None:
        self.services[agent].record_read("a.py")
        for name in NAMES:
            self.has_read(agent, name)

    def has_read(self, agent: str, name: str) -> None:
        self.known[agent, name].is_read = True
        self.known[agent, name].unread.clear()

    @rule(agent=agents, name=names)
    def change_contract(self, agent: str, name: str) -> None:
        self.contracts[name] += 1
        self.change(agent, name, "contract")

    @rule(agent=agents, name=names)
    def change_body(self, agent: str, name: str) -> None:
        self.bodies[name] += 1
        self.change(agent, name, "body")

    def change(self, agent: str, name: str, what: str) -> None:
        base = self.hash_of(agent, "a.py", name)
        answer = self.services[agent].commit(
            Changeset((Edit(Op.REPLACE, f"a.py#{name}", base, self.function(name)),), what)
        )
        assert answer.outcome == "committed", answer
        self.is_told(agent, answer.notices)
        for other in AGENTS:
            if other != agent and self.known[other, name].is_read:
                self.known[other, name].untold.append(what)
                self.known[other, name].unread.append(what)
        self.has_read(agent, name)

    @rule(agent=agents)
    def ask_for_news(self, agent: str) -> None:
        self.is_told(agent, tuple(each.notice for each in self.services[agent].news()))

    def is_told(self, agent: str, notices: tuple[str, ...], known: str | None = None) -> None:
        """All that is new, each once; what the answer shows of `known` is not said again."""
        for name in NAMES:
            untold = self.known[agent, name].untold
            told = [notice for notice in notices if f"`{name}` in a.py" in notice]
            assert len(told) == (1 if untold and name != known else 0), (name, notices, untold)
            if told:
                assert (f"the parameters of `{name}` changed" in told[0]) is ("contract" in untold)
            untold.clear()

    @rule(agent=agents, name=names, has_proof=st.booleans())
    def call_it(self, agent: str, name: str, has_proof: bool) -> None:  # noqa: FBT001 - Hypothesis gives it by name
        """Write a call: refused where it was not there before, and the contract is another than the one that was read.

        A call in the same form as the one that was there was seen to when the contract changed.
        """
        path, service = f"{agent}.py", self.services[agent]
        self.calls[agent] += 1
        text = f"def use():\n    return {name}({self.calls[agent]}, *())\n"
        reads = (Read(f"a.py#{name}", self.hash_of(agent, "a.py", name)),) if has_proof else ()
        base = self.hash_of(agent, path, "use")
        answer = service.commit(Changeset((Edit(Op.REPLACE, f"{path}#use", base, text),), "call it", reads=reads))
        is_new = self.called.get(agent) != name
        is_outdated = is_new and "contract" in self.known[agent, name].unread and not has_proof
        assert (answer.code is Refusal.CONTRACT_CHANGED) is is_outdated, answer
        assert (answer.outcome == "committed") is not is_outdated, answer
        if not is_outdated:
            self.called[agent] = name
        self.is_told(agent, answer.notices, known=name if is_outdated else None)
        if has_proof:
            self.has_read(agent, name)

    @invariant()
    def nothing_is_kept_that_is_over(self) -> None:
        for agent in AGENTS:
            with self.services[agent]._uses.place.store.read() as reader:
                kept = {each.key: each for each in reader.overtaken(agent, self.services[agent].root)}
            for name in NAMES:
                known = self.known[agent, name]
                assert (f"file:a.py#{name}" in kept) is bool(known.untold or known.unread)

    def teardown(self) -> None:
        for service in self.services.values():
            service.close()
        shutil.rmtree(self.folder)


TestReaders = Readers.TestCase
TestReaders.settings = settings(examples(0.25), stateful_step_count=20)
