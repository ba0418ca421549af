"""Git that writes files, in sandboxed shells: what it changes it may write, without anybody having to ask for it."""

import shutil
from collections.abc import Iterator

import pytest
from tests.e2e.daemon_process import serving
from tests.e2e.git_sessions import make_checkout
from tests.e2e.test_git_in_shells import ANN, BOB, Shells, git

pytestmark = pytest.mark.slow

FILES: dict[str, str | bytes] = {"a.txt": "a\n", "src/m.py": "X = 1\n", "docs/n.md": "# N\n", ".gitignore": "env/\n"}
# Each goes on where the one before has ended.
LINES = (
    "git switch -qc side && sed -i s/1/2/ src/m.py && git commit -qam two && git switch -q -",
    "git merge -q side && grep -q 2 src/m.py",
    "git reset -q --hard HEAD~ && grep -q 1 src/m.py",
    "sed -i s/1/3/ src/m.py && git stash -q && grep -q 1 src/m.py",
    "git stash pop -q && grep -q 3 src/m.py",
    "cd src && git checkout -q -- m.py && grep -q 1 m.py",
    "git -C docs mv n.md o.md && git commit -qm moved && git rm -q docs/o.md && git commit -qm gone",
    "git onto -q side && grep -q 2 src/m.py && test ! -e docs/n.md",
    "git checkout -q side~ -- src && grep -q 1 src/m.py && git restore -q -SW src && grep -q 2 src/m.py",
    "git diff side~ side > ../change && git apply -R ../change && grep -q 1 src/m.py",
)


@pytest.fixture(scope="module")
def shells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shells]:
    root = tmp_path_factory.mktemp("git") / "Über all" / "work"
    root.parent.mkdir()
    make_checkout(root, FILES)
    git(root, "config", "alias.onto", "rebase")
    # What is there can be written; new names beside the way to the working tree cannot be made.
    (root.parent / "change").touch()
    with serving(root) as daemon:
        yield Shells(daemon)


@pytest.fixture(autouse=True)
def _as_it_was(shells: Shells) -> None:
    git(shells.root, "reset", "-q", "--hard", git(shells.root, "rev-list", "--max-parents=0", "HEAD").strip())


def test_what_git_changes_it_may_write(shells: Shells) -> None:
    for line in LINES:
        status, out, err = shells.run(ANN, line)
        assert (status, out, err) == (0, "", ""), line


def test_what_git_changes_beside_anothers_is_not_anothers(shells: Shells) -> None:
    """A session's own changes can be taken back while another holds files elsewhere."""
    with shells.session(BOB) as session:
        lease = session.acquire("docs/n.md").lease
        assert lease is not None
        assert shells.run(ANN, "sed -i s/1/3/ src/m.py; git reset -q --hard")[::2] == (0, "")
        session.release(lease.id)
    assert git(shells.root, "status", "--short") == ""


@pytest.fixture
def patch(shells: Shells) -> Iterator[None]:
    """A patch of two files, in a branch that has them."""
    git(shells.root, "switch", "-qc", "patched")
    for name in ("src/m.py", "src/n.py"):
        (shells.root / name).write_text("X = 2\n")
    git(shells.root, "add", "src")
    git(shells.root, "commit", "-qm", "Two")
    (shells.root / "two.patch").write_text(git(shells.root, "format-patch", "-1", "--stdout"))
    yield
    (shells.root / "two.patch").unlink()
    git(shells.root, "switch", "-qf", "main")
    git(shells.root, "branch", "-qD", "patched")


@pytest.fixture
def far(shells: Shells) -> Iterator[None]:
    """A clone that has gone on, in two files, and is the upstream."""
    clone = shells.root.parent / "far"
    git(shells.root, "clone", "-q", ".", "../far")
    for words in ("remote add far ../far", "fetch -q far", "branch -q --set-upstream-to far/main"):
        git(shells.root, *words.split())
    for name in ("src/m.py", "docs/n.md"):
        (clone / name).write_text("X = 9\n")
    git(clone, "commit", "-qam", "Nine")
    yield
    git(shells.root, "remote", "remove", "far")
    shutil.rmtree(clone)


def refused_beside(shells: Shells, line: str) -> None:
    """Run a line that would write what another holds, and see that it has written nothing, and says why."""
    before = git(shells.root, "status", "--short"), git(shells.root, "rev-parse", "HEAD")
    with shells.session(BOB) as session:
        lease = session.acquire("src/m.py", task="bob's work").lease
        assert lease is not None
        status, _, err = shells.run(ANN, line)
        session.release(lease.id)
    assert (git(shells.root, "status", "--short"), git(shells.root, "rev-parse", "HEAD")) == before
    assert (status, "codex:bob holds src/m.py" in err, "Next: " in err) == (1, True, True), err


LINES_OF_PATCHES = ("git apply two.patch", "git -C src apply --reverse ../two.patch", "git am -q two.patch")


@pytest.mark.usefixtures("patch")
@pytest.mark.parametrize(
    "line", [*LINES_OF_PATCHES, "cat two.patch > a.patch; git apply a.patch; s=$?; rm a.patch; exit $s"]
)
def test_a_patch_of_what_another_holds_is_not_begun(shells: Shells, line: str) -> None:
    """It would take away all that it changes, and then write none of it."""
    refused_beside(shells, line)


@pytest.mark.usefixtures("far")
@pytest.mark.parametrize("line", ["git pull -q", "git pull -q --rebase", "git -c pull.ff=only pull -q ../far main"])
def test_a_pull_of_what_another_holds_is_not_begun(shells: Shells, line: str) -> None:
    refused_beside(shells, line)
    assert shells.run(ANN, line)[::2] == (0, "")
    assert (shells.root / "src/m.py").read_text() == "X = 9\n"


@pytest.mark.parametrize("place", ["../beside it", "trees/four"])
def test_a_working_tree_can_be_added(shells: Shells, place: str) -> None:
    status, _, err = shells.run(ANN, f"git worktree add -q --detach '{place}' && cd '{place}' && git status --short")
    assert (status, err) == (0, "")
    assert (shells.root / place / "src/m.py").exists()
    git(shells.root, "worktree", "remove", place)


def test_hooks_of_a_commit_may_mend_what_it_holds(shells: Shells) -> None:
    hook = shells.root / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nsed -i 's/ *$//' src/m.py && git add src/m.py\n")
    hook.chmod(0o755)
    assert shells.run(ANN, "echo 'Y = 1   ' >> src/m.py")[0] == 0
    status, out, err = shells.run(ANN, "git commit -qam trimmed; git status --short")
    hook.unlink()
    assert (status, out, err) == (0, "", "")
    assert git(shells.root, "show", "HEAD:src/m.py") == "X = 1\nY = 1\n"


def test_a_repository_inside_is_its_own_concern(shells: Shells) -> None:
    inner = shells.root / "env/inner"
    inner.parent.mkdir()
    make_checkout(inner, {"x.txt": "x\n"})
    shown = "cd env/inner && echo y >> x.txt && git commit -qam y && git checkout -q HEAD~ && cat x.txt"
    assert shells.run(ANN, shown) == (0, "x\n", "")
    git(inner, "checkout", "-q", "-")
    inner.rename(shells.root / "inner")
    assert shells.run(ANN, "echo z >> inner/x.txt && git -C inner stash -q && cat inner/x.txt") == (0, "x\ny\n", "")
    shutil.rmtree(shells.root / "inner")
