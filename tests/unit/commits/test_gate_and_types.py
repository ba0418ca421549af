"""When other files are looked at, and their tests run: never while others wait for the gate, never from memory."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.fakes import CountingIds, FakeClock
from tests.in_memory.index import MemoryIndex

from commonhold.api.service import Service
from commonhold.code.regions.region import hash_bytes
from commonhold.commits.cross_file_admission import Insight
from commonhold.commits.use_cases import Surroundings
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.keys import file_key
from commonhold.kernel.options import Options
from commonhold.kernel.policy import Policies, Suspicion
from commonhold.kernel.refusals import Refusal
from commonhold.merging.branches.verification import CheckResult
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

LIB = "class A:\n    def frob(self, x):\n        return x\n"
CHANGED = "class A:\n    def frob(self, x, y):\n        return x\n"
FILES = {
    "lib.py": LIB,
    "other.py": "def use(thing):\n    return thing.frob(1)\n",
    "test_lib.py": "from lib import A\n\n\ndef test_frob():\n    assert A().frob(1) == 1\n",
}
MENDED = "from lib import A\n\n\ndef test_frob():\n    assert A().frob(1, 2) == 1\n"


class WatchedStore(SqliteStore):
    """Knows whether somebody is inside the gate."""

    is_inside = False

    @contextmanager
    def gate(self) -> Iterator[None]:
        with super().gate():
            self.is_inside = True
            try:
                yield
            finally:
                self.is_inside = False


@dataclass
class Trial:
    """A check that passes as long as `good.txt` is there. It writes down whether it was run inside the gate."""

    root: Path
    store: WatchedStore
    meanwhile: Callable[[], None] | None = None
    runs: list[bool] = field(default_factory=list)

    @property
    def name(self) -> str:
        return "the tests"

    def passes(self, contents: Mapping[str, bytes | None], timeout_seconds: float) -> CheckResult:
        assert contents
        assert timeout_seconds > 0
        self.runs.append(self.store.is_inside)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()
        return CheckResult(self.root.joinpath("good.txt").exists(), "1 failed")


@dataclass
class House:
    root: Path
    trial: Trial
    service: Service

    def change(self) -> Changeset:
        texts = {"lib.py": CHANGED, "test_lib.py": MENDED}
        return Changeset(tuple(
            Edit(Op.REPLACE, path, base=hash_bytes(self.root.joinpath(path).read_bytes()), text=text)
            for path, text in texts.items()
        ))  # fmt: skip


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    root = tmp_path / "root"
    root.mkdir()
    for path, text in {**FILES, "good.txt": ""}.items():
        root.joinpath(path).write_text(text)
    store = WatchedStore(str(tmp_path / "state"), synchronous="OFF")
    trial = Trial(root, store)
    index = MemoryIndex(lambda: {each.name: each.read_bytes() for each in sorted(root.iterdir())})
    service = Service(
        store=store,
        files=WorkingTree(str(root)),
        clock=FakeClock(),
        ids=CountingIds(),
        agent="one",
        options=Options(policies=Policies(suspicions={file_key("."): Suspicion.TESTS})),
        surroundings=Surroundings(see=lambda: Insight(index, tests_of=lambda _paths: trial)),
    )
    yield House(root, trial, service)
    service.close()


def test_what_is_suspected_is_cleared_by_tests_that_pass(house: House) -> None:
    answer = house.service.commit(house.change())
    assert (answer.outcome, house.trial.runs) == ("committed", [False])


def test_tests_that_passed_say_nothing_of_another_state_of_the_files(house: House) -> None:
    assert house.service.commit(house.change(), dry_run=True).outcome == "committed"
    house.root.joinpath("good.txt").unlink()
    answer = house.service.commit(house.change())
    assert (answer.outcome, answer.code) == ("refused", Refusal.ESCALATION_REQUIRED)
    house.root.joinpath("good.txt").touch()
    assert house.service.commit(house.change()).outcome == "committed"


def test_nobody_waits_at_the_gate_for_tests_that_are_run_again(house: House) -> None:
    def more_is_concerned() -> None:
        house.root.joinpath("third.py").write_text("def also(thing):\n    return thing.frob(2)\n")

    house.trial.meanwhile = more_is_concerned
    answer = house.service.commit(house.change())
    assert answer.outcome == "committed"
    assert house.trial.runs == [False, False]


def test_a_commit_whose_findings_change_all_the_time_comes_to_an_end(house: House) -> None:
    names = iter(range(100))

    def more_is_concerned() -> None:
        house.root.joinpath(f"more_{next(names)}.py").write_text("def also(thing):\n    return thing.frob(2)\n")
        house.trial.meanwhile = more_is_concerned

    house.trial.meanwhile = more_is_concerned
    with pytest.raises(Exception, match="again and again") as caught:
        house.service.commit(house.change())
    assert caught.value.code == "REPOSITORY_BUSY"  # type: ignore[attr-defined]
    assert house.root.joinpath("lib.py").read_text() == LIB
    assert not any(house.trial.runs)
