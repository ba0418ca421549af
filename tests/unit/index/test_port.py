"""Both indexes are what the port asks for, and say the same."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.in_memory.index import MemoryIndex
from tests.unit.index.rig import Rig, assert_same, shelf

from commonhold.code.indexes import Index
from commonhold.kernel.errors import Code, CommonholdError

pytestmark = pytest.mark.slow

FILES = {"one.py": b"def f(): pass\n", "two.py": b"from one import f\nf()\n", "notes.txt": b"f()\n"}


def in_memory(_folder: Path) -> Index:
    return MemoryIndex(lambda: FILES, {"HEAD": FILES})


def on_disk(folder: Path) -> Index:
    rig = Rig(folder)
    for path, content in FILES.items():
        rig.write(path, content.decode())
    rig.commit()
    return rig.index


@pytest.mark.parametrize("make", [in_memory, on_disk])
def test_an_index_answers_as_the_port_says(tmp_path: Path, make: Callable[[Path], Index]) -> None:
    index = make(tmp_path)
    told: list[tuple[int, int]] = []
    library = index.library(lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] > 0
    expected = shelf(FILES)
    assert_same(library, expected)
    assert index.library() is library
    assert index.library_if_read() is library
    assert_same(index.of_revision("HEAD"), expected)
    assert index.summary("two.py", FILES["two.py"]) == expected.files["two.py"]
    assert index.summary("notes.txt", b"f()") is None
    with pytest.raises(CommonholdError) as refused:
        index.of_revision("elsewhere")
    assert refused.value.code == Code.REVISION_UNKNOWN
    index.close()
    index.close()
