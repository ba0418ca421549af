"""The working tree as a library: whatever happens to its files is seen, and nothing else is looked at."""

import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from tests.unit.index.rig import Rig

from commonhold.kernel.errors import Code, StoreError
from commonhold.machine import file_stamps
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.folder_watch import FolderWatch
from commonhold.workspace.scan.file_scan import FileScan
from commonhold.workspace.scan.state import Tree

pytestmark = pytest.mark.slow

ONE = "def one(a):\n    return two(a)\n"
TWO = "def two(b):\n    return b.three\n"


@pytest.fixture(params=["git", "plain"])
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    made = Rig(tmp_path, has_git=request.param == "git")
    made.write("one.py", ONE)
    made.write("inner/two.py", TWO)
    made.check()
    yield made
    made.index.close()


@pytest.fixture
def in_git(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(tmp_path)
    made.write("one.py", ONE)
    made.check()
    yield made
    made.index.close()


def test_an_empty_folder_has_an_empty_library(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    assert list(rig.check().paths) == []
    rig.index.close()


def test_the_same_state_is_the_same_library(rig: Rig) -> None:
    library = rig.index.library()
    assert rig.index.library() is library
    assert library.users("two") == ("one.py",)
    assert library.definers("two") == ("inner/two.py",)
    assert library.summary("one.py") is library.summary("one.py")
    assert library.summary("nothing.py") is None


def test_a_library_stays_what_it_was(rig: Rig) -> None:
    before, paths = rig.index.library(), rig.index.library().paths
    rig.write("one.py", "def other(): pass\n")
    after = rig.check()
    assert after is not before
    assert after.paths is paths
    assert before.users("two") == ("one.py",)
    assert "other" not in getattr(before.summary("one.py"), "offered_names")  # noqa: B009 - it may be None to mypy
    assert after.users("two") == ()


def test_what_is_written_at_once_and_as_long_is_seen(rig: Rig) -> None:
    place = rig.root / "one.py"
    for number in range(40):
        status = place.stat()
        place.write_text(f"def f{number:03}(): pass\n", encoding="utf-8")
        os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert rig.index.library().definers(f"f{number:03}") == ("one.py",)


def test_a_file_that_is_replaced_is_seen(rig: Rig) -> None:
    for number in range(10):
        rig.write("new.tmp", f"def g{number}(): pass\n")
        (rig.root / "new.tmp").replace(rig.root / "one.py")
        assert rig.index.library().definers(f"g{number}") == ("one.py",)
    rig.check()


@pytest.mark.parametrize("path", ["three.py", "inner/three.py", "new/three.py", "new/deep/er/three.py", "inner/x/y.py"])
def test_a_new_file_is_seen_wherever_it_is(rig: Rig, path: str) -> None:
    rig.write(path, "def three(): pass\n")
    assert rig.check().definers("three") == (path,)
    rig.remove(path)
    assert rig.check().definers("three") == ()


def test_a_file_in_a_folder_that_was_empty_is_seen(rig: Rig) -> None:
    (rig.root / "empty/inside/inside").mkdir(parents=True)
    rig.check()
    rig.write("empty/inside/inside/three.py", "def three(): pass\n")
    assert rig.check().definers("three") == ("empty/inside/inside/three.py",)


def test_what_is_renamed_is_seen(rig: Rig) -> None:
    (rig.root / "one.py").rename(rig.root / "inner/uno.py")
    rig.check()
    (rig.root / "inner").rename(rig.root / "outer")
    assert sorted(rig.check().paths) == ["outer/two.py", "outer/uno.py"]
    (rig.root / "outer").rename(rig.root / "inner")
    rig.check()


def test_a_folder_that_is_gone_takes_its_files_along(rig: Rig) -> None:
    rig.remove("inner")
    assert list(rig.check().paths) == ["one.py"]
    rig.write("inner", "no folder any more")
    rig.check()
    rig.remove("inner")
    rig.write("inner/two.py", TWO)
    rig.check()


def test_links_are_no_files_of_their_own(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.py").write_text("def secret(): pass\n", encoding="utf-8")
    (rig.root / "link.py").symlink_to(rig.root / "one.py")
    (rig.root / "out.py").symlink_to(tmp_path / "outside/secret.py")
    (rig.root / "folder").symlink_to(tmp_path / "outside")
    assert sorted(rig.check().paths) == ["inner/two.py", "one.py"]
    rig.remove("inner")
    (rig.root / "inner").symlink_to(tmp_path / "outside")
    assert list(rig.check().paths) == ["one.py"]


def test_what_is_no_regular_file_is_left_out(rig: Rig) -> None:
    os.mkfifo(rig.root / "pipe.py")
    (rig.root / "folder.py").mkdir()
    assert sorted(rig.check().paths) == ["inner/two.py", "one.py"]


def test_a_file_that_is_too_large_is_left_out(rig: Rig) -> None:
    rig.write("large.py", f"{'#' * 5000}\ndef large(): pass\n")
    assert rig.check().definers("large") == ("large.py",)
    small = rig.opened(max_file_bytes=1000)
    assert sorted(small.library().paths) == ["inner/two.py", "one.py"]
    assert small.summary("large.py", b"#" * 1001) is None
    small.close()
    assert rig.opened().library().definers("large") == ("large.py",)


def test_what_cannot_be_read_has_a_problem_and_is_tried_again(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    load = WorkingTree.load
    with monkeypatch.context() as patched:

        def refuse(files: WorkingTree, path: str) -> object:
            if path == "one.py":
                raise StoreError(Code.IO_FAILED, "'one.py' could not be read", hint="mend the permissions")
            return load(files, path)

        patched.setattr(WorkingTree, "load", refuse)
        rig.write("one.py", ONE + "# changed\n")
        summary = rig.index.library().summary("one.py")
        assert summary is not None
        assert summary.problem == "it cannot be read: 'one.py' could not be read"
        assert rig.index.library().users("two") == ()
    assert rig.check().users("two") == ("one.py",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_has_a_problem(rig: Rig) -> None:
    (rig.root / "one.py").chmod(0)
    summary = rig.index.library().summary("one.py")
    assert summary is not None
    assert summary.problem
    (rig.root / "one.py").chmod(0o600)
    rig.check()


def test_what_does_not_parse_is_there_with_a_problem(rig: Rig) -> None:
    rig.write("one.py", "def one(:\n")
    summary = rig.check().summary("one.py")
    assert summary is not None
    assert summary.problem


def test_names_beyond_ascii_are_as_in_keys(rig: Rig) -> None:
    name = unicodedata.normalize("NFD", "café.py")
    (rig.root / name).write_text("def au_lait(): pass\n", encoding="utf-8")
    assert rig.index.library().definers("au_lait") == (unicodedata.normalize("NFC", name),)


def test_a_name_that_is_no_text_is_left_out(rig: Rig) -> None:
    (rig.root / os.fsdecode(b"bad\xff.py")).write_text("def bad(): pass\n", encoding="utf-8")
    assert rig.index.library().definers("bad") == ()


def test_another_repository_inside_is_not_entered(rig: Rig) -> None:
    rig.write("vendor/lib/code.py", "def vendored(): pass\n")
    assert rig.check().definers("vendored") == ("vendor/lib/code.py",)
    for mark in (".git", ".commonhold"):
        (rig.root / "vendor/lib" / mark).mkdir()
        assert rig.index.library().definers("vendored") == ()
        (rig.root / "vendor/lib" / mark).rmdir()
        assert rig.check().definers("vendored") == ("vendor/lib/code.py",)


def test_the_root_may_come_and_go(rig: Rig) -> None:
    rig.root.rename(rig.root.with_name("elsewhere"))
    if not rig.has_git:
        assert list(rig.index.library().paths) == []
    rig.root.with_name("elsewhere").rename(rig.root)
    rig.check()


def test_what_git_ignores_is_left_out(in_git: Rig) -> None:
    in_git.write("made/code.py", "def made(): pass\n")
    in_git.write("made_too.py", "def made(): pass\n")
    assert in_git.check().definers("made") == ("made/code.py", "made_too.py")
    in_git.write(".gitignore", "made*\n")
    assert in_git.check().definers("made") == ()
    in_git.write("made/more.py", "def made(): pass\n")
    assert in_git.check().definers("made") == ()
    in_git.git("add", "--force", "made/code.py")
    assert in_git.check().definers("made") == ("made/code.py",)
    in_git.git("rm", "--cached", "--quiet", "made/code.py")
    assert in_git.check().definers("made") == ()
    in_git.remove(".gitignore")
    assert in_git.check().definers("made") == ("made/code.py", "made/more.py", "made_too.py")


@pytest.mark.parametrize("place", ["inner/.gitignore", ".git/info/exclude"])
def test_whatever_says_what_is_ignored_is_heeded(in_git: Rig, place: str) -> None:
    in_git.write("inner/made.py", "def made(): pass\n")
    in_git.check()
    in_git.write(place, "made.py\n")
    assert in_git.check().definers("made") == ()
    in_git.write(place, "other.py\n")
    assert in_git.check().definers("made") == ("inner/made.py",)


def test_an_excludes_file_of_the_user_is_heeded(in_git: Rig, tmp_path: Path) -> None:
    in_git.write("made.py", "def made(): pass\n")
    in_git.check()
    (tmp_path / "excludes").write_text("made.py\n", encoding="utf-8")
    in_git.git("config", "core.excludesFile", str(tmp_path / "excludes"))
    assert in_git.check().definers("made") == ()
    (tmp_path / "excludes").write_text("", encoding="utf-8")
    assert in_git.check().definers("made") == ("made.py",)


def test_a_name_is_no_pattern_for_git(in_git: Rig) -> None:
    in_git.write("[ab].py", "def odd(): pass\n")
    in_git.write(":(top)x.py", "def odd(): pass\n")
    in_git.write("-z.py", "def odd(): pass\n")
    assert in_git.check().definers("odd") == ("-z.py", ":(top)x.py", "[ab].py")


def test_a_conflict_and_a_missing_file_do_no_harm(in_git: Rig) -> None:
    in_git.commit()
    in_git.git("checkout", "--quiet", "-b", "other")
    in_git.write("one.py", "def theirs(): pass\n")
    in_git.commit()
    in_git.git("checkout", "--quiet", "-")
    in_git.write("one.py", "def ours(): pass\n")
    in_git.write("gone.py", "x = 1\n")
    in_git.commit()
    in_git.remove("gone.py")
    with pytest.raises(Exception, match="merge"):
        in_git.git("merge", "other")
    assert list(in_git.check().paths) == ["one.py"]


def test_a_checkout_of_another_branch_is_seen(in_git: Rig) -> None:
    in_git.commit()
    in_git.git("checkout", "--quiet", "-b", "other")
    for number in range(30):
        in_git.write(f"p{number % 5}/m{number}.py", f"def f{number}(): pass\n")
    in_git.commit()
    in_git.check()
    in_git.git("checkout", "--quiet", "-")
    assert list(in_git.check().paths) == ["one.py"]
    in_git.git("checkout", "--quiet", "other")
    in_git.check()


def test_an_unborn_branch_is_looked_at(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.write("a.py", ONE)
    rig.git("add", "a.py")
    rig.write("b.py", TWO)
    assert sorted(rig.check().paths) == ["a.py", "b.py"]
    rig.index.close()


def test_without_a_git_that_works_what_is_new_counts(in_git: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    in_git.write(".gitignore", "made*\n")
    in_git.check()
    for number, index in enumerate((in_git.index, in_git.opened())):
        with monkeypatch.context() as patched:
            patched.setenv("PATH", "")
            in_git.write(f"made{number}.py", f"def made{number}(): pass\n")
            assert index.library().definers(f"made{number}") == (f"made{number}.py",)
            assert index.library() is index.library()
        in_git.check(index)
        index.close()


@pytest.mark.parametrize("made", ["node_modules", "__pycache__", ".hidden", "build"])
def test_what_tools_make_is_left_out_of_a_plain_folder(tmp_path: Path, made: str) -> None:
    rig = Rig(tmp_path, has_git=False)
    rig.write(f"{made}/code.py", "def made(): pass\n")
    rig.write(f"inner/{made}/code.py", "def made(): pass\n")
    assert list(rig.check().paths) == []
    rig.write("inner/code.py", ONE)
    assert list(rig.check().paths) == ["inner/code.py"]
    rig.index.close()


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "CACHEDIR.TAG"])
def test_an_environment_or_cache_is_left_out_of_a_plain_folder(tmp_path: Path, mark: str) -> None:
    rig = Rig(tmp_path, has_git=False)
    rig.write("odd/lib/code.py", "def made(): pass\n")
    assert rig.check().definers("made") == ("odd/lib/code.py",)
    rig.write(f"odd/{mark}", "home = /usr\n")
    assert rig.check().definers("made") == ()
    rig.remove(f"odd/{mark}")
    assert rig.check().definers("made") == ("odd/lib/code.py",)
    rig.index.close()


@pytest.fixture
def watched(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Rig:
    """A tree whose folders are watched, where every stamp counts at once."""
    monkeypatch.setattr(file_stamps, "_TICK_NANOSECONDS", 0)
    for number in range(5):
        rig.write(f"many/{number}.py", f"def many{number}(): pass\n")
    rig.check()
    rig.check()
    return rig


def looked_at(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths below the root whose stamps are asked for from now on."""
    asked: list[str] = []
    lstat = os.lstat

    def told(place: str) -> os.stat_result:
        path = os.path.relpath(place, rig.root)
        if not path.startswith("..") and not path.startswith(".git/"):
            asked.append(path)
        return lstat(place)

    monkeypatch.setattr(os, "lstat", told)
    return asked


def test_where_nothing_changed_nothing_is_looked_at(watched: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, before = looked_at(watched, monkeypatch), watched.index.library()
    assert watched.index.library() is before
    assert asked == []


@pytest.mark.parametrize("is_replaced", [False, True])
def test_where_a_file_changed_only_that_is_looked_at(
    watched: Rig, monkeypatch: pytest.MonkeyPatch, *, is_replaced: bool
) -> None:
    before = watched.index.library()
    watched.index.library().users("two")
    if is_replaced:
        watched.write("many/new.tmp", "def other(): two()\n")
        (watched.root / "many/new.tmp").replace(watched.root / "many/3.py")
    else:
        watched.write("many/3.py", "def other(): two()\n")
    with monkeypatch.context() as patched:
        asked = looked_at(watched, patched)
        library = watched.index.library()
    assert set(asked) <= {"many", "many/3.py"}
    assert library.paths is before.paths
    assert library.users("two") == ("many/3.py", "one.py")
    watched.check()
    watched.check(fresh := watched.opened())
    fresh.close()


def test_a_folder_that_comes_or_moves_while_others_are_watched_is_followed(watched: Rig) -> None:
    (watched.root / "new/deep").mkdir(parents=True)
    watched.check()
    watched.write("new/deep/three.py", "def three(): pass\n")
    assert watched.check().definers("three") == ("new/deep/three.py",)
    (watched.root / "new").rename(watched.root / "moved")
    assert watched.check().definers("three") == ("moved/deep/three.py",)
    watched.write("moved/deep/three.py", "def four(): pass\n")
    assert watched.check().definers("four") == ("moved/deep/three.py",)


def test_a_file_that_goes_while_it_is_looked_at_is_gone(watched: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = FileScan.checked

    def then_remove(census: FileScan, known: Tree, folders: Iterable[str], contents: Mapping[str, set[str]]) -> object:
        found = checked(census, known, folders, contents)
        watched.remove("many/3.py")
        return found

    watched.write("many/3.py", "def other(): pass\n")
    with monkeypatch.context() as patched:
        patched.setattr(FileScan, "checked", then_remove)
        assert "many/3.py" not in watched.index.library().paths
    watched.check()


def test_a_change_by_another_name_is_seen(watched: Rig, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("def shared(): pass\n", encoding="utf-8")
    (watched.root / "linked.py").hardlink_to(elsewhere)
    for number in range(4):
        watched.check()
        elsewhere.write_text(f"def shared{number}(): pass\n", encoding="utf-8")
        assert watched.index.library().definers(f"shared{number}") == ("linked.py",)


def test_what_is_ignored_or_given_up_to_another_repository_is_seen(in_git: Rig) -> None:
    in_git.write("inner/two.py", TWO)
    for _ in range(3):
        in_git.check()
    in_git.write(".gitignore", "one.py\n")
    assert list(in_git.check().paths) == ["inner/two.py"]
    in_git.check()
    in_git.write(".gitignore", "")
    assert len(in_git.check().paths) == 2
    (in_git.root / "inner/.git").mkdir()
    assert list(in_git.check().paths) == ["one.py"]


def test_a_file_that_loses_its_summary_while_it_is_watched_is_left_out(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.write("one.py", ONE)
    small = rig.opened(max_file_bytes=100)
    for _ in range(3):
        assert list(small.library().paths) == ["one.py"]
    rig.write("one.py", "#" * 200)
    assert list(small.library().paths) == []
    rig.write("one.py", ONE)
    assert list(small.library().paths) == ["one.py"]
    small.close()
    rig.index.close()


def test_where_folders_cannot_be_watched_all_is_looked_at(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FolderWatch, "begin", lambda _watch, _folders: False)
    for number in range(4):
        rig.write("one.py", f"def g{number}(): pass\n")
        assert rig.check().definers(f"g{number}") == ("one.py",)
