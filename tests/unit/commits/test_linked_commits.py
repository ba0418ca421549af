"""What concerns other files is counted, so that a commit sees what came after its last look at them."""

from pathlib import Path

import pytest
from tests.fakes import CountingIds, FakeClock
from tests.in_memory.index import MemoryIndex
from tests.in_memory.store import MemoryStore

from commonhold.api.service import Service
from commonhold.code.regions.region import hash_bytes
from commonhold.commits.cross_file_admission import Insight
from commonhold.commits.turns import Turns
from commonhold.commits.use_cases import Surroundings
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow


class House:
    """A session whose commits fail at the `step` that is said."""

    def __init__(self, root: Path) -> None:
        self.file = root / "a.py"
        self.turns = Turns(is_complete=True)
        self.step = ""
        self.root = root
        self.file.write_text("def f(x):\n    return x\n")
        index = MemoryIndex(lambda: {self.file.name: self.file.read_bytes()})
        self.service = Service(
            store=MemoryStore(),
            files=WorkingTree(str(root), at_step=self.fail),
            clock=FakeClock(),
            ids=CountingIds(),
            agent="one",
            surroundings=Surroundings(see=lambda: Insight(index), turns=self.turns),
        )

    def fail(self, step: str) -> None:
        if step == self.step:
            raise OSError(step)

    def commit(self, text: str) -> None:
        base = hash_bytes(self.file.read_bytes())
        self.service.commit(Changeset((Edit(Op.REPLACE, "a.py", base, text),)))

    @property
    def count(self) -> int:
        return self.turns.linked(str(self.root))


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_a_commit_that_concerns_other_files_is_counted(house: House) -> None:
    house.commit("def f(x):\n    return 1\n")
    assert house.count == 0
    house.commit("def f(x, y):\n    return 1\n")
    assert house.count == 1


def test_one_that_is_undone_is_counted_since_it_was_there_to_be_seen(house: House) -> None:
    house.step = "swapped a.py"
    with pytest.raises(OSError, match="swapped"):
        house.commit("def f(x, y):\n    return 1\n")
    assert house.file.read_text() == "def f(x):\n    return x\n"
    assert house.count == 1


def test_what_tools_wrote_by_themselves_is_counted(house: House) -> None:
    house.commit("def f(x):\n    return 1\n")
    before = hash_bytes(house.file.read_bytes())
    house.file.write_text("def f(x, y):\n    return 1\n")
    assert house.service.record_external_writes({"a.py": before}, intent="by a tool").outcome == "recorded"
    assert house.count == 1
