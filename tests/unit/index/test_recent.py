"""What a process has summarised is made once, found by whoever asks, and written down when its number is needed."""

from pathlib import Path
from typing import ClassVar

import apsw
import pytest
from tests.unit.index.rig import Rig, assert_same, shelf

from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.analysis.repository.summary import Summary
from commonhold.index import opening, summary_cache
from commonhold.index.recent import Recent

pytestmark = pytest.mark.slow

_LONG = "".join(f"def f{number}():\n" + "    return g()\n" * 9 for number in range(9))


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    made = Rig(tmp_path)
    made.write("m.py", _LONG)
    made.write("n.py", "from m import f1\nf1()\n")
    made.check()
    return made


def count(rig: Rig) -> int:
    connection = apsw.Connection(str(rig.state / opening.DATABASE))
    number = len(connection.execute("SELECT id FROM summaries").fetchall())
    connection.close()
    return number


def test_a_draft_is_written_down_when_it_is_in_its_file(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = count(rig)
    draft = _LONG.replace("g()", "drafted()", 1)
    assert rig.index.summary("m.py", draft.encode()) is not None
    assert rig.index.summary("m.py", _LONG.replace("g()", "given_up()", 1).encode()) is not None
    assert count(rig) == kept
    rig.write("m.py", draft)
    monkeypatch.setattr(summary_cache, "summarise", lambda *_: pytest.fail("it is made already"))
    library = rig.index.library()
    assert library.users("drafted") == ("m.py",)
    assert list(library.users("given_up")) == []
    assert count(rig) == kept + 1
    rig.check(rig.opened())


def test_a_draft_is_made_once(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = _LONG.replace("g()", "drafted()", 1).encode()
    made = rig.index.summary("m.py", draft)
    monkeypatch.setattr(summary_cache, "summarise", lambda *_: pytest.fail("it is made already"))
    assert rig.index.summary("m.py", draft) is made
    assert rig.index.summary("README", draft) is None


def test_what_others_write_is_made_of_what_is_known_of_the_file(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.index.summary("m.py", _LONG.replace("g()", "drafted()", 1).encode())
    written = _LONG.replace("g()", "written()", 1)
    rig.write("m.py", written)
    likes: list[Summary | None] = []

    def summarise_and_note(path: str, content: bytes, like: Summary | None = None) -> Summary | None:
        likes.append(like)
        return summarise(path, content, like)

    monkeypatch.setattr(summary_cache, "summarise", summarise_and_note)
    library = rig.index.library()
    assert library.users("written") == ("m.py",)
    assert len(likes) == 1
    assert None not in likes
    monkeypatch.undo()
    assert_same(library, shelf({"m.py": written.encode(), "n.py": b"from m import f1\nf1()\n"}))


def test_the_last_versions_are_remembered_and_no_more() -> None:
    recent = Recent()
    for version in range(20):
        recent.put((b"%d" % version, "python"), "a.py", b"x", Summary("python", problem=str(version)))
    recent.put((b"b", "python"), "b.py", b"x", Summary("python", problem="b"))
    kept = [version for version in range(20) if recent.get((b"%d" % version, "python"))]
    assert kept == [*range(12, 20)]
    recent.get((b"15", "python"))
    assert recent.like("a.py") == Summary("python", problem="15")
    assert recent.like("c.py") is None


def test_large_files_push_others_out() -> None:
    recent = Recent()
    for name in "abc":
        recent.put((name.encode(), "python"), f"{name}.py", b" " * 3_000_000, Summary("python", problem=name))
    assert [recent.get((name, "python")) is not None for name in (b"a", b"b", b"c")] == [False, False, True]


class Compared(str):
    """A path that counts how often any path is compared with another."""

    __slots__ = ()
    times: ClassVar = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return str.__eq__(self, other)


def test_a_summary_is_kept_and_found_without_a_look_at_all_others() -> None:
    recent = Recent()
    for number in range(500):
        recent.put((b"%d" % number, "python"), Compared(f"{number}.py"), b"x", Summary("python", problem=str(number)))
    assert recent.like(Compared("7.py")) == Summary("python", problem="7")
    assert Compared.times < 5_000
