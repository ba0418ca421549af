"""What changed on disk since the last look."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.typecheck.disk import LARGEST_TEXT_BYTES, Change, Disk, text_of

pytestmark = pytest.mark.slow

# From the third look on only what the kernel names is looked at.
LOOKS = pytest.mark.parametrize("looks", [0, 2])


def looked_at(root: Path, suffixes: tuple[str, ...], looks: int) -> Disk:
    disk = Disk(str(root), suffixes)
    for _ in range(looks):
        assert disk.changes() == {}
    return disk


@LOOKS
def test_what_came_changed_and_went_is_told_once(tmp_path: Path, looks: int) -> None:
    for name in ("stays.py", "changes.py", "goes.py", "other.txt"):
        (tmp_path / name).write_text("x")
    disk = looked_at(tmp_path, (".py", ".pyi"), looks)
    assert disk.changes() == {}
    (tmp_path / "pkg" / "deep").mkdir(parents=True)
    (tmp_path / "pkg" / "deep" / "comes.pyi").write_text("")
    (tmp_path / "changes.py").write_text("xx")
    (tmp_path / "other.txt").write_text("xx")
    (tmp_path / "goes.py").unlink()
    expected = {"pkg/deep/comes.pyi": Change.CREATED, "changes.py": Change.CHANGED, "goes.py": Change.DELETED}
    assert disk.changes() == expected
    assert disk.changes() == {}


@LOOKS
def test_a_file_that_was_replaced_by_one_of_its_age_and_length_has_changed(tmp_path: Path, looks: int) -> None:
    (tmp_path / "a.py").write_text("one")
    (tmp_path / "new").write_text("two")
    times = (tmp_path / "a.py").stat()
    disk = looked_at(tmp_path, (".py",), looks)
    os.utime(tmp_path / "new", ns=(times.st_atime_ns, times.st_mtime_ns))
    (tmp_path / "new").replace(tmp_path / "a.py")
    assert disk.changes() == {"a.py": Change.CHANGED}


@LOOKS
def test_installed_hidden_and_linked_folders_are_not_looked_at(tmp_path: Path, looks: int) -> None:
    disk = looked_at(tmp_path, (".py",), looks)
    for folder in (".hidden", "node_modules/x", "env/lib", "__pycache__", "real"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.py").write_text("")
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "dangling.py").symlink_to("nowhere")
    (tmp_path / "round").symlink_to(".")
    assert disk.changes() == {"real/a.py": Change.CREATED}


@LOOKS
def test_a_change_by_another_name_is_told(tmp_path: Path, looks: int) -> None:
    elsewhere, root = tmp_path / "elsewhere.txt", tmp_path / "root"
    root.mkdir()
    elsewhere.write_text("x")
    (root / "linked.py").hardlink_to(elsewhere)
    (root / "pointing.py").symlink_to(elsewhere)
    disk = looked_at(root, (".py",), looks)
    elsewhere.write_text("other")
    assert disk.changes() == {"linked.py": Change.CHANGED, "pointing.py": Change.CHANGED}


@LOOKS
def test_a_folder_that_becomes_an_environment_has_no_files_any_more(tmp_path: Path, looks: int) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env/a.py").write_text("")
    disk = looked_at(tmp_path, (".py",), looks)
    (tmp_path / "env/pyvenv.cfg").write_text("")
    assert disk.changes() == {"env/a.py": Change.DELETED}
    (tmp_path / "env/pyvenv.cfg").unlink()
    assert disk.changes() == {"env/a.py": Change.CREATED}


@LOOKS
def test_folders_that_come_go_and_move_are_followed(tmp_path: Path, looks: int) -> None:
    disk = looked_at(tmp_path, (".py",), looks)
    (tmp_path / "new/deep").mkdir(parents=True)
    assert disk.changes() == {}
    (tmp_path / "new/deep/a.py").write_text("x")
    assert disk.changes() == {"new/deep/a.py": Change.CREATED}
    (tmp_path / "new").rename(tmp_path / "moved")
    assert disk.changes() == {"new/deep/a.py": Change.DELETED, "moved/deep/a.py": Change.CREATED}
    (tmp_path / "moved/deep/a.py").write_text("xx")
    assert disk.changes() == {"moved/deep/a.py": Change.CHANGED}


def test_from_the_third_look_on_only_what_changed_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}/a.py").write_text("x")
    disk = looked_at(tmp_path, (".py",), 2)
    monkeypatch.setattr(os, "scandir", lambda _: pytest.fail("a folder is listed"))
    (tmp_path / "3/a.py").write_text("xx")
    assert disk.changes() == {"3/a.py": Change.CHANGED}
    disk.close()


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
