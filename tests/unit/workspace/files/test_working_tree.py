"""Files: no path leads out, replacement keeps what belongs to the file, and undo takes back what was begun."""

import os
import shutil
import tempfile
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.e2e.cli_driver import git

from commonhold.code.regions.region import hash_bytes
from commonhold.index.working_tree_library import named_in_keys
from commonhold.kernel.errors import Code, CommonholdError, InputError, StoreError
from commonhold.kernel.files import ChangedUnderneath, Journal, Write
from commonhold.kernel.keys import Key, canonical, parse
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

SECRET = b"outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    tmp_path.joinpath("secret").write_bytes(SECRET)
    return root


@pytest.fixture
def tree(root: Path) -> WorkingTree:
    return WorkingTree(str(root), max_file_bytes=1000)


def located(tree: WorkingTree, text: str) -> str:
    return str(tree.locate(parse(text)))


def code_of(call: Callable[[], object]) -> Code:
    with pytest.raises(CommonholdError) as caught:
        call()
    return caught.value.code


# Paths.


def test_every_spelling_is_one_key(tree: WorkingTree, root: Path) -> None:
    root.joinpath("src").mkdir()
    root.joinpath("src/a.py").touch()
    root.joinpath("lib").symlink_to("src")
    root.joinpath("whole").symlink_to(root / "src")
    root.joinpath("a.py").symlink_to("lib/a.py")
    spellings = ("src/a.py", "./src//a.py", "src/../src/a.py", "lib/a.py", "whole/a.py", "a.py", f"{root}/lib/a.py")
    assert {located(tree, text) for text in spellings} == {"file:src/a.py"}
    assert {located(tree, text) for text in ("src", "src/", "lib", "lib/", "file:src/")} == {"file:src/"}
    assert located(tree, "./") == located(tree, str(root)) == "file:./"


def test_dot_dot_is_meant_after_links_as_the_system_means_it(tree: WorkingTree, root: Path) -> None:
    root.joinpath("deep/inner").mkdir(parents=True)
    root.joinpath("link").symlink_to("deep/inner")
    assert located(tree, "link/../a.py") == "file:deep/a.py"


def test_an_absolute_path_through_a_link_to_the_root(tmp_path: Path, root: Path) -> None:
    tmp_path.joinpath("alias").symlink_to(root)
    tree = WorkingTree(str(tmp_path / "alias"))
    assert tree.root == str(root)
    assert located(tree, f"{tmp_path}/alias/new.py") == "file:new.py"


@pytest.mark.parametrize("name", ["e\u0301.py", "é.py"])
def test_unicode_forms_of_a_name_are_one(tree: WorkingTree, root: Path, name: str) -> None:
    root.joinpath(name).write_text("x")
    for spelling in ("e\u0301.py", "é.py"):
        assert located(tree, spelling) == "file:é.py"
    state = tree.load("é.py")
    assert state is not None
    assert state.content == b"x"


FORMS = ("café", "cafe\u0301")
_accented = st.lists(st.sampled_from(("é", "e\u0301", "Å", "A\u030a", "ﬁ", "x")), min_size=1, max_size=2).map("".join)


@pytest.mark.parametrize("name", FORMS)
def test_of_two_forms_of_a_name_each_is_the_file_of_just_that_name(tree: WorkingTree, root: Path, name: str) -> None:
    for folder in FORMS:
        (root / folder).mkdir()
        for form in FORMS:
            (root / folder / f"{form}.py").write_text(f"{folder}/{form}")
    key = tree.locate(parse(f"{name}/{name}.py::f"))
    assert key.file_path == f"{name}/{name}.py" == tree.path_of(key.file_path)
    assert canonical(str(key)) == key
    state = tree.load(key.file_path)
    assert state is not None
    assert state.content == f"{name}/{name}".encode()


def test_a_name_is_composed_again_when_its_twin_is_gone(tree: WorkingTree, root: Path) -> None:
    for name in FORMS:
        (root / name).touch()
    (root / FORMS[0]).unlink()
    assert {located(tree, name) for name in FORMS} == {f"file:{FORMS[0]}"}
    (root / FORMS[1]).unlink()
    assert {located(tree, name) for name in FORMS} == {f"file:{FORMS[0]}"}


@given(paths=st.sets(st.lists(_accented, min_size=1, max_size=2).map("/".join), max_size=6))
def test_no_two_files_have_one_key_and_each_key_leads_to_its_file(paths: set[str]) -> None:
    root = Path(tempfile.mkdtemp())
    try:
        made = [path for path in sorted(paths) if make_file(root / path, path)]
        tree = WorkingTree(str(root))
        keys = {path: tree.locate(parse(path)) for path in made}
        assert len(set(keys.values())) == len(made)
        for path, key in keys.items():
            state = tree.load(key.file_path)
            assert state is not None
            assert state.content == path.encode()
            assert tree.locate(parse(str(key))) == canonical(str(key)) == key
            assert same_name(Path(key.file_path)) == same_name(Path(path))
            assert named_in_keys(made).get(path, path) == tree.path_of(path) == key.file_path
    finally:
        shutil.rmtree(root)


def make_file(place: Path, content: str) -> bool:
    """Make a file, unless a folder or a file is in the way; whether it was made."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        return False
    return True


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("../secret", Code.PATH_OUTSIDE),
        ("out", Code.PATH_OUTSIDE),
        ("up/secret", Code.PATH_OUTSIDE),
        ("/etc/passwd", Code.PATH_OUTSIDE),
        ("loop", Code.PATH_INVALID),
        ("pipe", Code.NOT_A_FILE),
        ("a.py/", Code.NOT_A_FILE),
        ("folder#f", Code.NOT_A_FILE),
        (".git/config", Code.PATH_RESERVED),
        ("folder/.Git/config", Code.PATH_RESERVED),
        (".commonhold/state.db", Code.PATH_RESERVED),
        ("x" * 300, Code.PATH_INVALID),
    ],
)
def test_what_is_no_place_for_a_file(tree: WorkingTree, root: Path, text: str, code: Code) -> None:
    root.joinpath("a.py").touch()
    root.joinpath("folder").mkdir()
    root.joinpath("out").symlink_to("../secret")
    root.joinpath("up").symlink_to("..")
    root.joinpath("loop").symlink_to("loop")
    os.mkfifo(root / "pipe")
    assert code_of(lambda: located(tree, text)) is code


_parts = st.sampled_from(("a", "b", "c", "..", ".", "", "é", "e\u0301"))
_wanderings = st.lists(_parts, min_size=1, max_size=6).map("/".join)
_targets = _wanderings | _wanderings.map(lambda path: f"ROOT/{path}") | _wanderings.map(lambda path: f"/{path}")


@given(
    folders=st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), max_size=3),
    links=st.lists(st.tuples(st.lists(st.sampled_from("abcé"), min_size=1, max_size=2), _targets), max_size=5),
    path=_targets,
)
def test_no_path_leads_out(folders: list[list[str]], links: list[tuple[list[str], str]], path: str) -> None:
    """Where the system itself ends up inside the root, so do we, in the same place; else we refuse."""
    outer = Path(tempfile.mkdtemp())
    try:
        root = outer / "root"
        root.mkdir()
        for folder in folders:
            root.joinpath(*folder).mkdir(parents=True, exist_ok=True)
        for link, target in links:
            make_link(root.joinpath(*link), target.replace("ROOT", str(root)))
        check_location(WorkingTree(str(root)), root, path.replace("ROOT", str(root)))
    finally:
        shutil.rmtree(outer)


def make_link(place: Path, target: str) -> None:
    if target and place.parent.is_dir() and not os.path.lexists(place):
        place.symlink_to(target)


def check_location(tree: WorkingTree, root: Path, path: str) -> None:
    key = locate_or_refuse(tree, path)
    if key is None:
        return
    assert not {"", ".", ".."} & set(key.path)
    place = same_name(root.joinpath(*key.path))
    assert same_name(Path(os.path.realpath(place))) == place
    meant = os.path.realpath(root / path)
    assert not os.path.lexists(meant) or same_name(Path(meant)) == place


def locate_or_refuse(tree: WorkingTree, path: str) -> Key | None:
    refusals = (Code.PATH_OUTSIDE, Code.PATH_INVALID, Code.NOT_A_FILE)
    try:
        return tree.locate(parse(path or "."))
    except InputError as fault:
        if fault.code in refusals:
            return None
        raise


def same_name(path: Path) -> str:
    return unicodedata.normalize("NFC", str(path))


@pytest.mark.parametrize("place", ["folder/a.py", "folder"])
def test_a_link_swapped_in_after_locating_leads_nowhere(tree: WorkingTree, tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    outside.joinpath("a.py").write_bytes(SECRET)
    inside = tmp_path / "root" / "folder"
    inside.mkdir()
    inside.joinpath("a.py").write_bytes(b"inside")
    key = tree.locate(parse("folder/a.py"))
    target = tmp_path / "root" / place
    shutil.rmtree(target) if target.is_dir() else target.unlink()
    target.symlink_to(outside / Path(place).relative_to("folder"))
    with suppress(CommonholdError):
        assert tree.load(key.file_path) is None
    stage_and_swap_is_refused(tree, key)
    assert outside.joinpath("a.py").read_bytes() == SECRET
    assert [path.name for path in outside.iterdir()] == ["a.py"]


def stage_and_swap_is_refused(tree: WorkingTree, key: Key) -> None:
    plan = Plan()
    journal = plan.journal(plan.write(key.file_path, b"inside", b"new"))
    with pytest.raises((StoreError, ChangedUnderneath)):
        run(tree, journal, plan)


# Reading.


def test_loading_gives_bytes_and_mode(tree: WorkingTree, root: Path) -> None:
    root.joinpath("a.sh").write_bytes(b"x\r\n")
    root.joinpath("a.sh").chmod(0o751)
    state = tree.load("a.sh")
    assert state is not None
    assert (state.content, state.mode) == (b"x\r\n", 0o751)
    assert tree.load("nothing") is None
    assert tree.load("a.sh/nothing") is None
    assert tree.load("no/thing") is None


def test_what_is_no_regular_file_is_not_read(tree: WorkingTree, root: Path) -> None:
    os.mkfifo(root / "pipe")
    root.joinpath("folder").mkdir()
    root.joinpath("large").write_bytes(b"x" * 1001)
    root.joinpath("link").symlink_to("../secret")
    assert code_of(lambda: tree.load("pipe")) is Code.NOT_A_FILE
    assert code_of(lambda: tree.load("folder")) is Code.NOT_A_FILE
    assert code_of(lambda: tree.load("large")) is Code.FILE_TOO_LARGE
    assert code_of(lambda: tree.load("link")) is Code.NOT_A_FILE
    tree.check_size("a", b"x" * 1000)
    assert code_of(lambda: tree.check_size("a", b"x" * 1001)) is Code.FILE_TOO_LARGE


def test_a_rebase_under_way_is_told(root: Path, tmp_path: Path) -> None:
    git_dir = tmp_path / "git"
    git_dir.mkdir()
    tree = WorkingTree(str(root), git_dir=str(git_dir))
    tree.check_idle()
    git_dir.joinpath("rebase-merge").mkdir()
    assert code_of(tree.check_idle) is Code.REPOSITORY_BUSY
    WorkingTree(str(root)).check_idle()


def test_missing_folders_are_the_outermost_first(tree: WorkingTree, root: Path) -> None:
    root.joinpath("a").mkdir()
    root.joinpath("file").touch()
    assert tree.missing_folders("a/b/c/d.py") == ("a/b", "a/b/c")
    assert tree.missing_folders("a/d.py") == tree.missing_folders("d.py") == ()
    assert code_of(lambda: tree.missing_folders("file/d.py")) is Code.FILE_EXISTS


# Replacing.


class Plan:
    """Writes and the bytes that they name."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def write(
        self, path: str, before: bytes | None, after: bytes | None, mode: int = 0o644, made: tuple[str, ...] = ()
    ) -> Write:
        return Write(
            path=path,
            before=self.keep(before),
            after=self.keep(after),
            mode_before=None if before is None else mode,
            mode_after=None if after is None else mode,
            source=None if before is None else path,
            made=made,
        )

    def keep(self, data: bytes | None) -> str | None:
        if data is None:
            return None
        self.kept[hash_bytes(data)] = data
        return hash_bytes(data)

    def journal(self, *writes: Write) -> Journal:
        return Journal(7, "", "one", "", writes)

    def __call__(self, content_hash: str) -> bytes:
        return self.kept[content_hash]


def run(tree: WorkingTree, journal: Journal, plan: Plan) -> None:
    tree.stage(journal, plan)
    tree.swap(journal)


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def plan() -> Plan:
    return Plan()


@pytest.fixture
def everything(root: Path, plan: Plan) -> Journal:
    """A commit that replaces, makes and deletes."""
    root.joinpath("a").write_bytes(b"old a")
    root.joinpath("gone").write_bytes(b"old gone")
    return plan.journal(
        plan.write("a", b"old a", b"new a"),
        plan.write("x/y/new", None, b"new", made=("x", "x/y")),
        plan.write("gone", b"old gone", None),
    )


def test_a_commit_takes_effect_on_all_files(tree: WorkingTree, root: Path, plan: Plan, everything: Journal) -> None:
    run(tree, everything, plan)
    assert files(root) == {"a": b"new a", "x/y/new": b"new"}


def test_a_file_keeps_its_mode_owner_and_attributes(tree: WorkingTree, root: Path, plan: Plan) -> None:
    path = root / "a.sh"
    path.write_bytes(b"old")
    if os.geteuid() == 0:
        os.chown(path, 1234, 2345)
    path.chmod(0o750)
    has_attributes = can_set_attribute(path)
    before = path.stat()
    run(tree, plan.journal(plan.write("a.sh", b"old", b"new", mode=0o750)), plan)
    after = path.stat()
    assert path.read_bytes() == b"new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert not has_attributes or os.getxattr(path, "user.note") == b"kept"


def can_set_attribute(path: Path) -> bool:
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        return False
    return True


def test_a_file_that_changed_meanwhile_is_not_overwritten(
    tree: WorkingTree, root: Path, plan: Plan, everything: Journal
) -> None:
    tree.stage(everything, plan)
    root.joinpath("a").write_bytes(b"theirs")
    with pytest.raises(ChangedUnderneath):
        tree.swap(everything)
    assert tree.undo(everything, plan) == ((), ("a",))
    assert files(root) == {"a": b"theirs", "gone": b"old gone"}


@pytest.mark.parametrize("stop", ["staged a", "staged x/y/new", "swapped a", "swapped x/y/new", "swapped gone", "end"])
def test_undo_takes_back_whatever_was_begun(root: Path, plan: Plan, everything: Journal, stop: str) -> None:
    before = files(root)

    def at_step(name: str) -> None:
        if name == stop:
            raise InterruptedError

    with suppress(InterruptedError):
        run(WorkingTree(str(root), at_step=at_step), everything, plan)
    tree = WorkingTree(str(root))
    tree.undo(everything, plan)
    assert files(root) == before
    assert not root.joinpath("x").exists()
    assert tree.undo(everything, plan) == ((), ())


def test_undo_of_nothing_does_nothing(tree: WorkingTree, root: Path, plan: Plan, everything: Journal) -> None:
    before = files(root)
    assert tree.undo(everything, plan) == ((), ())
    assert files(root) == before


def test_undo_makes_the_folder_of_a_deleted_file_again(tree: WorkingTree, root: Path, plan: Plan) -> None:
    root.joinpath("sub").mkdir()
    root.joinpath("sub/gone").write_bytes(b"old")
    journal = plan.journal(plan.write("sub/gone", b"old", None))
    run(tree, journal, plan)
    root.joinpath("sub").rmdir()
    assert tree.undo(journal, plan) == (("sub/gone",), ())
    assert files(root) == {"sub/gone": b"old"}


def test_undo_keeps_a_folder_that_others_have_filled(
    tree: WorkingTree, root: Path, plan: Plan, everything: Journal
) -> None:
    run(tree, everything, plan)
    root.joinpath("x/theirs").write_bytes(b"theirs")
    tree.undo(everything, plan)
    assert files(root) == {"a": b"old a", "gone": b"old gone", "x/theirs": b"theirs"}


def test_undo_in_a_tree_that_is_gone_leaves_all(tree: WorkingTree, root: Path, plan: Plan, everything: Journal) -> None:
    shutil.rmtree(root)
    assert tree.undo(everything, plan) == ((), ("a", "x/y/new", "gone"))


def test_a_tree_that_git_still_knows_may_come_back(tmp_path: Path) -> None:
    main, linked, away = tmp_path / "main", tmp_path / "linked", tmp_path / "away"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "x")
    git(main, "worktree", "add", "-q", str(linked))
    git(main, "worktree", "add", "-q", str(tmp_path / "other"))
    trees = [WorkingTree(str(main)), WorkingTree(str(tmp_path / "other"))]
    assert [tree.may_come_back(str(linked)) for tree in trees] == [False, False], "it is there"
    linked.rename(away)
    assert [tree.may_come_back(str(linked)) for tree in trees] == [True, True]
    git(main, "worktree", "prune", "--expire", "now")
    assert [tree.may_come_back(str(linked)) for tree in trees] == [False, False], "it is gone for good"


@pytest.mark.parametrize("umask", [0o077, 0o002])
def test_new_folders_get_the_rights_that_the_caller_grants(root: Path, plan: Plan, umask: int) -> None:
    tree = WorkingTree(str(root), umask=umask)
    journal = plan.journal(Write("x/y/new", None, plan.keep(b"x"), None, tree.new_file_mode, made=("x", "x/y")))
    run(tree, journal, plan)
    rights = [root.joinpath(each).stat().st_mode & 0o777 for each in ("x", "x/y", "x/y/new")]
    assert rights == [0o777 & ~umask, 0o777 & ~umask, 0o666 & ~umask]


def test_a_mode_alone_is_changed_and_taken_back(tree: WorkingTree, root: Path, plan: Plan) -> None:
    path = root / "a"
    path.write_bytes(b"x")
    path.chmod(0o644)
    same = plan.keep(b"x")
    journal = plan.journal(Write("a", same, same, 0o644, 0o755, source="a"))
    run(tree, journal, plan)
    assert path.stat().st_mode & 0o777 == 0o755
    assert tree.undo(journal, plan) == (("a",), ())
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_a_folder_that_may_not_be_written_is_told(
    tree: WorkingTree, root: Path, plan: Plan, forked: Callable[[Callable[[], bool]], bool]
) -> None:
    root.joinpath("a").write_bytes(b"old")
    for place in (root, *root.parents[:3]):
        place.chmod(0o755)

    def as_nobody() -> bool:
        os.setuid(65534)
        journal = plan.journal(plan.write("a", b"old", b"new"))
        return code_of(lambda: run(tree, journal, plan)) is Code.PERMISSION_DENIED

    assert forked(as_nobody)
    assert files(root) == {"a": b"old"}
