"""Commits as libraries."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.index.rig import Rig, assert_same, shelf

from commonhold.kernel.errors import Code, CommonholdError
from commonhold.workspace.git import objects

pytestmark = pytest.mark.slow


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(tmp_path)
    yield made
    made.index.close()


def test_every_commit_is_as_it_was(rig: Rig) -> None:
    stories = (
        {"one.py": b"def f(): pass\n", "a/two.py": b"f()\n"},
        {"one.py": b"def g(): pass\n", "a/two.py": b"f()\n", "a/three.py": b"g()\n", "readme.txt": b"g()\n"},
        {"b/two.py": b"f()\n", "caf\xc3\xa9.py".encode("latin-1").decode(): b"x = 1\n"},
    )
    commits = []
    for files in stories:
        for path in rig.git("ls-files").splitlines():
            rig.git("rm", "--quiet", "--force", "--", path.strip('"')) if path.isascii() and '"' not in path else None
        for path, content in files.items():
            rig.write(path, content.decode())
        commits.append(rig.commit())
    for index in (rig.index, rig.index, rig.opened()):
        for commit, files in zip(commits, stories, strict=True):
            python = {path: content for path, content in files.items() if path.endswith(".py")}
            assert_same(index.of_revision(commit), shelf(python))


def test_a_revision_is_named_as_git_names_it(rig: Rig) -> None:
    rig.write("one.py", "def one(): pass\n")
    first = rig.commit()
    rig.write("one.py", "def two(): pass\n")
    rig.commit()
    rig.git("tag", "here")
    for name in ("HEAD", "here", "HEAD^{tree}"):
        assert rig.index.of_revision(name).definers("two") == ("one.py",)
    assert rig.index.of_revision("HEAD~1").definers("one") == ("one.py",)
    assert rig.index.of_revision("HEAD") is rig.index.of_revision("here")
    assert rig.index.of_revision(first[:10]) is rig.index.of_revision("here~1")


@pytest.mark.parametrize(
    "name", ["nothing", "", "--help", "-h", "HEAD:one.py", "--output=/tmp/x", "a\nb", "HEAD..HEAD"]
)
def test_what_is_no_revision_is_refused(rig: Rig, name: str) -> None:
    rig.write("one.py", "def one(): pass\n")
    rig.commit()
    with pytest.raises(CommonholdError) as refused:
        rig.index.of_revision(name)
    assert refused.value.code == Code.REVISION_UNKNOWN
    assert refused.value.fields == {"name": name}


def test_a_plain_folder_has_no_revisions(tmp_path: Path) -> None:
    rig = Rig(tmp_path, has_git=False)
    with pytest.raises(CommonholdError) as refused:
        rig.index.of_revision("HEAD")
    assert refused.value.code == Code.REVISION_UNKNOWN
    rig.index.close()


def test_the_working_tree_and_a_commit_share_what_is_equal(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.write("one.py", "def one(): pass\n")
    rig.commit()
    here = rig.index.library()
    there = rig.index.of_revision("HEAD")
    assert here.summary("one.py") is there.summary("one.py")
    monkeypatch.setattr(objects, "read_blobs", lambda *_: pytest.fail("it is known already"))
    fresh = rig.opened()
    assert fresh.of_revision("HEAD").definers("one") == ("one.py",)
    fresh.close()


def test_links_submodules_and_large_files_are_left_out(rig: Rig) -> None:
    rig.write("one.py", "def one(): pass\n")
    rig.write("large.py", "#" * 2000)
    (rig.root / "link.py").symlink_to("one.py")
    rig.commit()
    rig.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub.py")
    rig.git("commit", "--quiet", "--message", "a submodule")
    small = rig.opened(max_file_bytes=1000)
    assert list(small.of_revision("HEAD").paths) == ["one.py"]
    small.close()
    assert sorted(rig.index.of_revision("HEAD").paths) == ["large.py", "one.py"]


def test_a_missing_object_is_told(rig: Rig) -> None:
    rig.write("one.py", "def one(): pass\n")
    rig.commit()
    blob = rig.git("rev-parse", "HEAD:one.py")
    (rig.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(CommonholdError) as refused:
        rig.index.of_revision("HEAD")
    assert refused.value.code == Code.GIT_FAILED


def test_a_revision_tells_how_far_it_is(rig: Rig) -> None:
    for number in range(5):
        rig.write(f"m{number}.py", f"def f{number}(): pass\n")
    rig.commit()
    told: list[tuple[int, int]] = []
    rig.index.of_revision("HEAD", lambda done, total: told.append((done, total)))
    assert told[-1] == (5, 5)
    told.clear()
    rig.opened().of_revision("HEAD", lambda done, total: told.append((done, total)))
    assert told == []


def test_a_folder_that_is_no_repository_is_told_by_git(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.write("one.py", "")
    rig.commit()
    subprocess.run(["rm", "-rf", str(rig.root / ".git")], check=True)
    with pytest.raises(CommonholdError) as refused:
        rig.index.of_revision("HEAD")
    assert refused.value.code == Code.REVISION_UNKNOWN
    rig.index.close()
