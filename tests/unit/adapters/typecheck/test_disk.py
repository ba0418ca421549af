"""What changed on disk since the last look."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from commonhold.adapters.typecheck.disk import LARGEST_TEXT_BYTES, Change, Disk, text_of


def test_what_came_changed_and_went_is_told_once(tmp_path: Path) -> None:
    for name in ("stays.py", "changes.py", "goes.py", "other.txt"):
        (tmp_path / name).write_text("x")
    disk = Disk(str(tmp_path), (".py", ".pyi"))
    assert disk.changes() == {}
    (tmp_path / "pkg" / "deep").mkdir(parents=True)
    (tmp_path / "pkg" / "deep" / "comes.pyi").write_text("")
    (tmp_path / "changes.py").write_text("xx")
    (tmp_path / "other.txt").write_text("xx")
    (tmp_path / "goes.py").unlink()
    expected = {"pkg/deep/comes.pyi": Change.CREATED, "changes.py": Change.CHANGED, "goes.py": Change.DELETED}
    assert disk.changes() == expected
    assert disk.changes() == {}


def test_a_file_that_was_replaced_by_one_of_its_age_and_length_has_changed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one")
    (tmp_path / "new").write_text("two")
    times = (tmp_path / "a.py").stat()
    disk = Disk(str(tmp_path), (".py",))
    os.utime(tmp_path / "new", ns=(times.st_atime_ns, times.st_mtime_ns))
    (tmp_path / "new").replace(tmp_path / "a.py")
    assert disk.changes() == {"a.py": Change.CHANGED}


def test_installed_hidden_and_linked_folders_are_not_looked_at(tmp_path: Path) -> None:
    disk = Disk(str(tmp_path), (".py",))
    for folder in (".hidden", "node_modules/x", "env/lib", "__pycache__", "real"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.py").write_text("")
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "dangling.py").symlink_to("nowhere")
    (tmp_path / "round").symlink_to(".")
    assert disk.changes() == {"real/a.py": Change.CREATED}


def test_ground_that_changes_is_noticed(tmp_path: Path) -> None:
    disk = Disk(str(tmp_path), (".py",), ("ty.toml", ".venv/lib/*/site-packages"))
    assert not disk.is_on_other_ground()
    (tmp_path / ".venv/lib/python3.11/site-packages").mkdir(parents=True)
    assert disk.is_on_other_ground()
    disk = Disk(str(tmp_path), (".py",), ("ty.toml", ".venv/lib/*/site-packages"))
    (tmp_path / "other.toml").write_text("")
    assert not disk.is_on_other_ground()
    (tmp_path / ".venv/lib/python3.11/site-packages/installed").mkdir()
    assert disk.is_on_other_ground()


def test_a_folder_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    assert Disk(str(tmp_path / "nowhere"), (".py",)).changes() == {}


@given(st.binary(max_size=50))
def test_any_bytes_have_a_text_or_none(content: bytes) -> None:
    text = text_of(content)
    assert text is None or content in (text.encode(), b"\xef\xbb\xbf" + text.encode())


def test_what_is_too_long_has_no_text() -> None:
    assert text_of(b"x" * LARGEST_TEXT_BYTES) is not None
    assert text_of(b"x" * (LARGEST_TEXT_BYTES + 1)) is None
