"""Each content is summarised once, and another version of a file only where it differs."""

import pytest

from commonhold.code.analysis.repository import python_files
from commonhold.code.analysis.repository.python import read_part
from commonhold.code.analysis.repository.recent_summaries import recent_summary
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven

_HEADER = "import os\nimport json\n"
_FUNCTIONS = "".join(f"\n\ndef f{number}(value):\n    return json.dumps(value + {number})\n" for number in range(80))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the parts that are read, as they are."""
    parts: list[str] = []

    def noted(statements: object, text: bytes, *rest: object) -> object:
        parts.append(text.decode())
        return read_part(statements, text, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(python_files, "read_part", noted)
    return parts


def test_a_content_is_read_once_and_the_next_version_in_part(read: list[str]) -> None:
    first = (_HEADER + _FUNCTIONS).encode()
    summary = recent_summary("once.py", first)
    assert len(read) >= 40
    read.clear()
    assert recent_summary("once.py", first) is summary
    assert read == []
    second = first.replace(b"value + 7)", b"value - 7)")
    again = recent_summary("once.py", second)
    assert len(read) <= 2
    assert again is not None
    assert again.flat == summarise("once.py", second).flat  # type: ignore[union-attr]


def test_a_language_without_summaries_has_none() -> None:
    assert recent_summary("README", b"text\n") is None
    assert recent_summary("README", b"other text\n") is None


def test_merges_of_one_file_one_after_the_other_read_what_each_changes(read: list[str]) -> None:
    base = _HEADER + _FUNCTIONS
    counts = []
    for number in range(4):
        ours = base.replace("import json\n", f"import json\nfrom a import mine_{number}\n")
        theirs = base.replace("import os\n", f"import os\nfrom b import theirs_{number}\n")
        ours += f"\n\ndef g{number}():\n    return mine_{number}\n"
        theirs = theirs.replace("value + 3)", f"value + theirs_{number} + 3)  # mine_{number}")
        read.clear()
        merged = merge(base.encode(), ours.encode(), theirs.encode(), "merged.py")
        assert isinstance(merged, Proven), merged
        counts.append(len(read))
        base = merged.source.decode()
    assert counts[0] >= 40
    assert max(counts[1:]) <= 10
