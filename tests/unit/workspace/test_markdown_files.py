"""Which files of a working tree are notes, and why some are not read."""

import subprocess
from pathlib import Path

import pytest

from commonhold.stores.archive import files
from commonhold.stores.archive.files import MarkdownFiles
from commonhold.tasks.notes import MOST_BYTES
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.git.process import Git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "docs" / "deep").mkdir(parents=True)
    (root / ".hidden").mkdir()
    for path in ("README.md", "docs/deep/Upper.MD", "docs/ä.markdown", "docs/text.txt", ".hidden/a.md", "ignored.md"):
        (root / path).write_text("# T\n")
    (root / ".gitignore").write_text("ignored.md\n")
    return root


def in_git(root: Path) -> MarkdownFiles:
    subprocess.run(("git", "init", "-q"), cwd=root, check=True)
    subprocess.run(("git", "add", "README.md"), cwd=root, check=True)
    return MarkdownFiles(WorkingTree(str(root), git_dir=str(root / ".git")), Git(str(root)))


def problem(root: Path, path: str) -> str:
    note = MarkdownFiles(WorkingTree(str(root)), None).read(path)
    assert note is not None
    assert note.sections == ()
    return note.problem


def test_notes_are_the_files_that_git_does_not_ignore(root: Path) -> None:
    assert list(in_git(root).stamps()) == [".hidden/a.md", "README.md", "docs/deep/Upper.MD", "docs/ä.markdown"]


def test_in_a_plain_folder_they_are_all_outside_of_hidden_folders(root: Path) -> None:
    found = MarkdownFiles(WorkingTree(str(root)), None).stamps()
    assert list(found) == ["README.md", "docs/deep/Upper.MD", "docs/ä.markdown", "ignored.md"]


def test_a_stamp_differs_after_every_change(root: Path) -> None:
    notes = in_git(root)
    before = notes.stamps()
    (root / "README.md").write_text("# U\n")
    (root / "docs/ä.markdown").unlink()
    after = notes.stamps()
    assert [path for path in after if after[path] != before[path]] == ["README.md"]
    assert set(before) - set(after) == {"docs/ä.markdown"}
    assert notes.read("docs/ä.markdown") is None


def test_only_so_many_are_notes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_FILES", 2)
    assert list(in_git(root).stamps()) == [".hidden/a.md", "README.md"]


def test_links_are_not_followed(root: Path) -> None:
    (root.parent / "secret.md").write_text("# Secret\n")
    for name, target in (("out.md", "../secret.md"), ("in.md", "README.md"), ("gone.md", "nowhere/x.md")):
        (root / name).symlink_to(target)
    (root / "folder").symlink_to(root.parent)
    assert problem(root, "out.md") == "it is a link that leads out of the working tree"
    assert problem(root, "in.md") == "it is a link; its target README.md is read under its own name"
    assert problem(root, "gone.md") == "it is a link; its target nowhere/x.md is read under its own name"
    assert MarkdownFiles(WorkingTree(str(root)), None).read("folder/secret.md") is None


def test_a_file_that_is_no_text_has_a_problem(root: Path) -> None:
    (root / "large.md").write_bytes(b"a" * (MOST_BYTES + 1))
    (root / "binary.md").write_bytes(b"a\0")
    (root / "latin.md").write_bytes("ä".encode("latin-1"))
    (root / "dir.md").mkdir()
    assert problem(root, "large.md") == "it has 1000001 bytes, and a note has at most 1000000"
    assert problem(root, "binary.md") == "it is binary: it has a NUL byte"
    assert problem(root, "latin.md") == "it is not UTF-8: byte 0 cannot be decoded"
    assert "dir.md" in problem(root, "dir.md")
