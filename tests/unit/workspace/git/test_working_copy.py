"""The copy that checks run in: the working tree as it is, without what git ignores."""

import os
import subprocess
from pathlib import Path

import pytest

from commonhold.workspace.git.process import Git
from commonhold.workspace.git.working_copy import WorkingCopy

pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    subprocess.run(("git", "init", "-q", str(root)), check=True)
    (root / "src").mkdir()
    (root / "src/a.py").write_text("tracked", encoding="utf-8")
    (root / "run").write_text("tracked", encoding="utf-8")
    (root / "run").chmod(0o755)
    (root / ".gitignore").write_text("ignored\n", encoding="utf-8")
    subprocess.run(("git", "-C", str(root), "add", "-A"), check=True)
    return root


def copied(root: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "copy"
    copy.mkdir()
    WorkingCopy(Git(str(root)))(str(copy))
    return copy


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}


def test_it_has_what_is_on_disk_tracked_or_not(root: Path, tmp_path: Path) -> None:
    (root / "src/a.py").write_text("changed", encoding="utf-8")
    (root / "new file").write_text("untracked", encoding="utf-8")
    (root / "ignored").write_text("secret", encoding="utf-8")
    copy = copied(root, tmp_path)
    assert files(copy) == {".gitignore", "new file", "run", "src/a.py"}
    assert (copy / "src/a.py").read_text(encoding="utf-8") == "changed"
    assert os.access(copy / "run", os.X_OK)


def test_what_is_tracked_and_gone_is_left_out(root: Path, tmp_path: Path) -> None:
    (root / "src/a.py").unlink()
    assert files(copied(root, tmp_path)) == {".gitignore", "run"}


def test_links_are_copied_as_links(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept", encoding="utf-8")
    (root / "link").symlink_to(outside)
    (root / "dangling").symlink_to("nowhere")
    copy = copied(root, tmp_path)
    assert (copy / "link").readlink() == outside
    assert (copy / "dangling").readlink() == Path("nowhere")


def test_a_repository_inside_of_it_is_left_out(root: Path, tmp_path: Path) -> None:
    subprocess.run(("git", "init", "-q", str(root / "inner")), check=True)
    (root / "inner/b.py").write_text("of another", encoding="utf-8")
    assert files(copied(root, tmp_path)) == {".gitignore", "run", "src/a.py"}
