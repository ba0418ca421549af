"""The file of the index is a cache: whatever becomes of it, the answers stay right."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.unit.index.rig import Rig

from commonhold.index import opening, summary_cache
from commonhold.index.index import SqliteIndex
from commonhold.kernel.errors import Code, StoreError

pytestmark = pytest.mark.slow


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    made = Rig(tmp_path)
    for number in range(12):
        made.write(f"m{number}.py", f"def f{number}():\n    return f{number + 1}()\n")
    made.check()
    return made


def database(rig: Rig) -> Path:
    return rig.state / opening.DATABASE


def count(rig: Rig, table: str) -> int:
    connection = apsw.Connection(str(database(rig)))
    number = len(connection.execute(f"SELECT * FROM {table}").fetchall())  # noqa: S608 - our own table
    connection.close()
    return number


def test_what_is_kept_is_not_made_again(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.index.close()
    monkeypatch.setattr(summary_cache, "summarise", lambda *_: pytest.fail("everything is known"))
    rig.index.library()
    shutil.copytree(rig.root, rig.root.with_name("copy"), ignore=shutil.ignore_patterns(".git"))
    copy = SqliteIndex(str(rig.state), str(rig.root.with_name("copy")))
    assert copy.library().users("f1") == ("m0.py",)
    copy.close()


def empty(place: Path) -> None:
    place.write_bytes(b"")


def fill(place: Path) -> None:
    place.write_bytes(b"no database" * 1000)


def cut(place: Path) -> None:
    os.truncate(place, place.stat().st_size // 2)


def spoil(place: Path) -> None:
    with place.open("r+b") as file:
        size = place.stat().st_size
        for at in range(4096, size, 4096):
            file.seek(at)
            file.write(b"\xff" * 64)


def of_another_program(place: Path) -> None:
    place.unlink()
    connection = apsw.Connection(str(place))
    connection.execute("CREATE TABLE theirs (id); PRAGMA application_id = 7")
    connection.close()


def of_another_version(place: Path) -> None:
    connection = apsw.Connection(str(place))
    connection.pragma("user_version", opening.SCHEMA + 1)
    connection.close()


def without_a_table(place: Path) -> None:
    connection = apsw.Connection(str(place))
    connection.execute("DROP TABLE uses")
    connection.close()


def with_spoilt_summaries(place: Path) -> None:
    connection = apsw.Connection(str(place))
    connection.execute("UPDATE summaries SET body = x'00'")
    connection.close()


SPOILERS = (empty, fill, cut, spoil, of_another_program, of_another_version, without_a_table, with_spoilt_summaries)


@pytest.mark.parametrize("spoiler", SPOILERS)
def test_a_file_that_is_no_good_is_made_anew(rig: Rig, spoiler: Callable[[Path], None]) -> None:
    rig.index.close()
    spoiler(database(rig))
    rig.check()
    rig.index.close()
    rig.check(rig.opened())
    assert count(rig, "summaries") == 12


@pytest.mark.parametrize("spoiler", [spoil, without_a_table, with_spoilt_summaries])
def test_a_library_outlives_its_file(rig: Rig, spoiler: Callable[[Path], None]) -> None:
    rig.commit()
    here, there = rig.index.library(), rig.index.of_revision("HEAD")
    rig.index.close()
    here, there = rig.index.library(), rig.index.of_revision("HEAD")
    spoiler(database(rig))
    for library in (here, there, here):
        assert library.users("f1") == ("m0.py",)
        assert library.definers("f1") == ("m1.py",)
        summary = library.summary("m1.py")
        assert summary is not None
        assert "f1" in summary.offered_names
    rig.check()


def test_a_file_that_is_deleted_under_us_is_no_loss(rig: Rig) -> None:
    library = rig.index.library()
    for place in rig.state.iterdir():
        place.unlink()
    rig.write("m0.py", "def other(): pass\n")
    rig.check()
    assert library.users("f1") == ("m0.py",)
    rig.check(rig.opened())


def test_a_library_of_a_closed_index_answers_still(rig: Rig) -> None:
    library = rig.index.library()
    rig.index.close()
    rig.index.close()
    assert library.users("f1") == ("m0.py",)


@pytest.mark.parametrize("has_git", [True, False])
def test_where_no_folder_can_be_made_it_works_from_memory(tmp_path: Path, *, has_git: bool) -> None:
    rig = Rig(tmp_path, has_git=has_git)
    rig.write("one.py", "def f(): pass\n")
    rig.state.rmdir()
    rig.state.write_text("a file where the folder should be", encoding="utf-8")
    rig.check()
    rig.write("one.py", "def g(): pass\n")
    rig.check()


def test_a_plain_folder_is_not_made_a_repository(tmp_path: Path) -> None:
    rig = Rig(tmp_path, has_git=False)
    rig.write("one.py", "def f(): pass\n")
    rig.state.rmdir()
    rig.check()
    assert not rig.state.exists()


def test_a_state_folder_of_git_is_made(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.state.rmdir()
    rig.check()
    assert database(rig).is_file()


def test_ground_that_is_not_safe_is_not_used(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_folder: str) -> None:
        raise StoreError(Code.STORE_UNSAFE, "shared by machines", hint="move it")

    rig.index.close()
    monkeypatch.setattr(opening, "check_ground", refuse)
    database(rig).unlink()
    rig.check()
    assert not database(rig).exists()


def test_a_sqlite_that_is_not_safe_is_not_used(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.index.close()
    monkeypatch.setattr(opening, "sqlite_version", lambda: (3, 51, 2))
    database(rig).unlink()
    rig.check()
    assert not database(rig).exists()


def test_while_another_writes_the_answer_is_right_and_kept_later(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_PATIENCE_SECONDS", 0.01)
    rig.index.close()
    rig.check()
    other = apsw.Connection(str(database(rig)))
    other.execute("BEGIN IMMEDIATE")
    rig.remove("m0.py")
    rig.check()
    rig.write("m1.py", "def new(): pass\n")
    rig.check()
    other.execute("ROLLBACK")
    other.close()
    rig.check()
    rig.check(rig.opened())


def test_a_full_disk_is_no_error(rig: Rig) -> None:
    rig.index.close()
    index = rig.opened()
    index.library()
    assert index._parts is not None
    index._parts.stock.cache._connection.pragma("max_page_count", 1)
    for number in range(30):
        rig.write(f"more{number}.py", "".join(f"def some_name_{number}_{line}(): pass\n" for line in range(200)))
    rig.check(index)
    assert index._folder is None
    index.close()


def test_a_summary_for_a_candidate_is_found_when_it_is_written(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def candidate(): pass\n"
    made = rig.index.summary("m3.py", text.encode())
    assert made is not None
    assert "candidate" in made.offered_names
    assert rig.index.library().definers("candidate") == ()
    rig.write("m3.py", text)
    monkeypatch.setattr(summary_cache, "summarise", lambda *_: pytest.fail("it was made already"))
    assert rig.index.library().definers("candidate") == ("m3.py",)
    assert rig.index.library().summary("m3.py") is made
    assert rig.index.summary("readme.txt", text.encode()) is None


def test_equal_bytes_of_two_languages_have_two_summaries(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary_cache, "_VERSION", "0/of another time")
    fresh = rig.opened()
    rig.check(fresh)
    assert count(rig, "summaries") == 24
    assert count(rig, "roots") == 2
    fresh.close()


def test_what_nothing_refers_to_is_dropped_when_there_is_too_much(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary_cache, "_SPARE", 5)
    monkeypatch.setattr(summary_cache, "_SPARE_RATIO", 0)
    monkeypatch.setattr(summary_cache, "_SLICE", 1)
    monkeypatch.setattr(summary_cache, "_TRIM_EVERY", 1)
    rig.index.close()
    revisions = []
    for number in range(20):
        rig.write("m0.py", f"def old{number}(): pass\n")
        rig.index.library()
        revisions.append(rig.commit())
    old = rig.index.of_revision(revisions[0])
    assert count(rig, "summaries") <= 12 + 5 + 2
    assert old.definers("old0") == ("m0.py",)
    rig.check()
    for number, revision in enumerate(revisions):
        assert rig.index.of_revision(revision).definers(f"old{number}") == ("m0.py",)
    assert count(rig, "summaries") <= 12 + 5 + 2
    assert count(rig, "offers") <= 12 + 5 + 2
    assert count(rig, "blobs") <= 12 + 5 + 2


def test_a_working_tree_that_is_gone_is_forgotten(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Rig(rig.root.parent / "second")
    other.state.rmdir()
    other.state = rig.state
    other.index = other.opened()
    other.write("one.py", "def f(): pass\n")
    other.check()
    assert count(rig, "roots") == 2
    other.index.close()
    shutil.rmtree(other.root)
    monkeypatch.setattr(summary_cache, "_TRIM_EVERY", 1)
    rig.index.close()
    rig.write("m0.py", "x = 1\n")
    rig.check()
    assert count(rig, "roots") == 1


def test_a_name_that_is_no_unicode_is_a_problem_of_its_file_alone(rig: Rig) -> None:
    rig.write("odd.py", '__all__ = ["\\ud800"]\ngetattr(x, "\\ud800")\n')
    summary = rig.index.library().summary("odd.py")
    assert summary is not None
    assert summary.problem in ("", "it holds a string that is no Unicode text")
    assert rig.index.library().users("f1") == ("m0.py",)


def test_rules_that_cannot_be_read_any_more_are_asked_for_again(rig: Rig) -> None:
    rig.index.close()
    connection = apsw.Connection(str(database(rig)))
    connection.execute("UPDATE roots SET rules = x'c1'")
    connection.close()
    rig.check()
