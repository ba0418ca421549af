"""Which versions a file was merged from is found out, and not believed unless git makes the same of them."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.branches import two_branches
from tests.e2e.cli_driver import git

from commonhold.merging.branches.histories import Blob, BothChanged
from commonhold.workspace.git.history import GitHistory
from commonhold.workspace.git.line_merge import common_base
from commonhold.workspace.git.objects import read_blobs, write_blobs
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.rename_tracking import _confirmed, traced

pytestmark = pytest.mark.slow

TEXT = "A = 1\n\n\n\n\n\n\nLIMIT = 3\n\n\n\n\n\n\nZ = 1\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Both changed a.py, and we renamed it; there is another file that is very much like it."""
    ours, theirs = TEXT.replace("A = 1", "A = 2"), TEXT.replace("Z = 1", "Z = 2")
    made = two_branches(tmp_path / "r", {"a.py": TEXT, "like.py": TEXT + "# like\n"}, {"a.py": ours}, {"a.py": theirs})
    git(made, "mv", "a.py", "n.py")
    git(made, "commit", "--quiet", "--message", "rename")
    return made


def file_at(root: Path, path: str) -> BothChanged:
    place = Git(str(root))
    meeting = GitHistory(place, str(root / ".git")).meeting("other")
    tree = GitHistory(place, str(root / ".git")).merge_lines(meeting).tree
    return traced(place, meeting, common_base(place, meeting.bases), tree, [path])[path]


def test_a_renamed_file_is_traced_to_its_versions(root: Path) -> None:
    file = file_at(root, "n.py")
    assert file.base is not None
    assert file.merged is not None
    blobs = read_blobs(Git(str(root)), [blob.id for blob in (file.base, file.ours, file.theirs, file.merged)])
    texts = [content.decode() for content in blobs.values()]
    assert texts[0] == TEXT
    assert [text.count("= 2") for text in texts] == [0, 1, 1, 2]


def test_versions_from_which_git_would_make_something_else_are_not_believed(root: Path) -> None:
    place, file = Git(str(root)), file_at(root, "n.py")
    ids = write_blobs(place, [TEXT.replace("A = 1", "A = 2").encode(), TEXT.replace("LIMIT = 3", "LIMIT = 9").encode()])
    base, theirs = (Blob("100644", each) for each in ids)
    wrong = [replace(file, path="base.py", base=base), replace(file, path="theirs.py", theirs=theirs)]
    assert _confirmed(place, {each.path: each for each in (file, *wrong)}) == {"n.py": file}


def test_no_driver_has_a_say(root: Path) -> None:
    for key, value in (("merge.default", "mine"), ("merge.mine.driver", "cp %O %A")):
        git(root, "config", key, value)
    assert file_at(root, "n.py").path == "n.py"
