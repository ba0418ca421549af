"""Git in real shells of sessions: the daemon, the sandbox, and what stands in for git there."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.cli_driver import GIT
from tests.e2e.daemon_process import Serving, serving
from tests.e2e.git_sessions import IDENTITY, make_checkout

from commonhold.client.launcher import launching
from commonhold.workspace.daemon_files import http_address

ANN, BOB = "claude:ann", "codex:bob"
pytestmark = pytest.mark.slow


def git(root: Path, *words: str) -> str:
    """What git answers to a person."""
    return subprocess.run([*GIT, *words], cwd=root, check=True, capture_output=True, text=True).stdout


class Shells:
    """Shells of sessions in one repository with a daemon."""

    def __init__(self, daemon: Serving) -> None:
        self.root = daemon.root
        self.session = daemon.session
        self.socket = http_address(str(daemon.state))

    def start(self, holder: str, line: str) -> subprocess.Popen[str]:
        words = launching(self.socket, holder, "block", ("bash", "-c", line))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | IDENTITY
        pipe = subprocess.PIPE
        return subprocess.Popen(words, cwd=self.root, env=environment, stdout=pipe, stderr=pipe, text=True)

    def run(self, holder: str, line: str) -> tuple[int, str, str]:
        with self.start(holder, line) as shell:
            out, err = shell.communicate(timeout=60)
        return shell.returncode, out, err


@pytest.fixture(scope="module")
def shells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shells]:
    root: Path = tmp_path_factory.mktemp("git") / "work"
    make_checkout(root, {"a.txt": "a\n", "b.txt": "b\n", "src/m.py": "X = 1\n\n\nY = 2\n"})
    with serving(root) as daemon:
        yield Shells(daemon)


def test_what_a_line_has_made_itself_it_may_clean_away(shells: Shells) -> None:
    assert shells.run(ANN, "mkdir x; touch x/empty; echo x > x/made; git clean -fd x") == (0, "Removing x/\n", "")


def test_git_that_is_called_by_its_path_is_judged_as_well(shells: Shells) -> None:
    """No stand-in is called then."""
    assert shells.run(BOB, "echo bob > a.txt")[0] == 0
    words = launching(shells.socket, ANN, "block", (shutil.which("git") or "", "stash"))
    done = subprocess.run(words, cwd=shells.root, capture_output=True, text=True, check=False)
    assert (done.returncode, "`git stash` was not run: " in done.stderr) == (1, True), done.stderr
    assert shells.run(BOB, "git checkout -q -- a.txt")[0] == 0


def test_a_line_that_writes_and_commits(shells: Shells) -> None:
    assert shells.run(BOB, "echo bob > b.txt && sed -i 's/Y = 2/Y = 3/' src/m.py")[0] == 0
    line = "sed -i 's/X = 1/X = 5/' src/m.py; echo new > new.txt; git add -A && git commit -qm mine && git status -s"
    status, out, err = shells.run(ANN, line)
    assert (status, out) == (0, " M b.txt\n M src/m.py\n"), err
    assert f"src/m.py (the rest belongs to {BOB})" in err
    status, out, _ = shells.run(BOB, "git show HEAD:src/m.py; git show --stat --format=%an HEAD")
    assert out.startswith("X = 5\n\n\nY = 2\nAnn Example\n")
    assert "b.txt" not in out
    assert "new.txt" in out


def test_a_hook_that_formats_and_adds_commits_nothing_of_others(shells: Shells) -> None:
    (shells.root / "h.py").write_text("X = 1\n\n\nY = 2\n", encoding="utf-8")
    git(shells.root, "add", "h.py")
    git(shells.root, "commit", "-qm", "h", "h.py")
    hook = shells.root / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nsed -i 's/  */ /' h.py && git add h.py && pwd\n", encoding="utf-8")
    hook.chmod(0o755)
    try:
        assert shells.run(BOB, "sed -i '$a Z  = 9' h.py")[0] == 0
        line = "sed -i '1s/.*/X  = 7/' h.py && git commit -qm spaced h.py && git show HEAD:h.py"
        status, out, err = shells.run(ANN, line)
        assert (status, out.endswith("X = 7\n\n\nY = 2\n")) == (0, True), (out, err)
        assert str(shells.root) not in out.splitlines()
        assert f"h.py (the rest belongs to {BOB})" in err
        assert (shells.root / "h.py").read_text(encoding="utf-8") == "X = 7\n\n\nY = 2\nZ  = 9\n"
        assert shells.run(BOB, "git commit -nqm mine h.py && git show HEAD:h.py")[1].endswith("Y = 2\nZ  = 9\n")
    finally:
        hook.unlink()


def test_others_hear_that_head_moved_with_their_next_command(shells: Shells) -> None:
    assert shells.run(BOB, "echo moved > moved.txt")[0] == 0
    assert shells.run(ANN, "git switch -qc feat")[0] == 0
    assert (
        f"HEAD of this working tree moved: {ANN} switched it from branch main to branch feat"
        in shells.run(BOB, "true")[2]
    )
    assert "moved" not in shells.run(BOB, "true")[2]
    assert shells.run(ANN, "git switch -q main")[0] == 0
    assert "to branch main" in shells.run(BOB, "git status -s > /dev/null; rm moved.txt")[2]


def test_what_would_throw_away_others_work_is_not_run(shells: Shells) -> None:
    assert shells.run(BOB, "echo more > b.txt")[0] == 0
    # Neither where it stands in the line, nor where only the stand-in sees it.
    for line in ("git reset --hard", "$(echo git) checkout -- b.txt", "xargs -a <(echo stash) git"):
        status, _, err = shells.run(ANN, line)
        assert status != 0
        assert f"b.txt ({BOB}" in err
        assert "Next: " in err
        assert (shells.root / "b.txt").read_text(encoding="utf-8") == "more\n"


def test_where_the_folder_is_gone_git_says_so_itself_and_the_rest_holds(shells: Shells, tmp_path: Path) -> None:
    (tmp_path / "side").mkdir()
    away = f"mkdir {tmp_path}/side/gone && cd {tmp_path}/side/gone && rmdir {tmp_path}/side/gone"
    status, _, err = shells.run(ANN, f"{away}; git status")
    assert (status, "Traceback" in err) == (128, False)
    assert "fatal: Unable to read current working directory" in err
    assert shells.run(BOB, "echo more > b.txt")[0] == 0
    assert f"b.txt ({BOB}" in shells.run(ANN, f"{away}; $(echo git) -C {shells.root} checkout -- b.txt")[2]


def test_sessions_that_commit_at_the_same_time(shells: Shells) -> None:
    holders = [f"claude:{number}" for number in range(4)]
    line = "for n in 1 2; do echo {0} $n > f{0}.txt; git add f{0}.txt; git commit -qm {0}-$n || exit 1; done"
    started = [shells.start(holder, line.format(holder[-1])) for holder in holders]
    ended = [(shell.communicate(timeout=100), shell.returncode) for shell in started]
    assert [status for _, status in ended] == [0] * len(holders), ended
    _, out, _ = shells.run(ANN, "git log --format=%s --name-only -8")
    told = out.replace("\n\n", " ").split("\n")
    assert sorted(told[:-1]) == sorted(f"{n}-{m} f{n}.txt" for n in range(4) for m in (1, 2))


def test_who_waits_for_anothers_git_is_told_so(shells: Shells, tmp_path: Path) -> None:
    for name in ("begun", "end"):
        os.mkfifo(tmp_path / name)
    editor = f"echo > {tmp_path}/begun; cat {tmp_path}/end; echo ann >"
    ann = shells.start(ANN, f"GIT_EDITOR='{editor}' git commit -q --allow-empty")
    (tmp_path / "begun").read_text(encoding="utf-8")
    bob = shells.start(BOB, "git commit -q --allow-empty -m bob")
    assert bob.stderr is not None
    told = bob.stderr.readline()
    (tmp_path / "end").write_text("now", encoding="utf-8")
    assert (ann.wait(60), bob.wait(60)) == (0, 0)
    for shell in (ann, bob):
        shell.communicate()
    assert "git waits: another call of git is under way" in told
    assert git(shells.root, "log", "--format=%s", "-2") == "bob\nann\n"


def test_a_folder_that_a_call_names_is_where_it_acts(shells: Shells, tmp_path: Path) -> None:
    git(shells.root, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    line = "echo n > src/n.py; git -C src add n.py && git -C src commit -qm here && git log -1 --format=%s"
    assert shells.run(ANN, line)[:2] == (0, "here\n")
    there = f"git -C {tmp_path} -C side commit -q --allow-empty -m there"
    assert shells.run(ANN, f"{there}; git log -1 --format=%s side; git log -1 --format=%s")[:2] == (0, "there\nhere\n")


def test_in_another_working_tree_it_acts_on_that_one(shells: Shells, tmp_path: Path) -> None:
    """What the session has staged here is no matter there, and files there are the session's to change."""
    status, _, err = shells.run(ANN, f"echo h > h.txt; git add h.txt; git worktree add -q -b far {tmp_path}/far && ls")
    assert (status, err) == (0, "")
    line = (
        f"cd {tmp_path}/far && git status -s && sed -i s/a/A/ a.txt && git commit -qam far && git show --stat --format="
    )
    assert shells.run(ANN, line) == (0, " a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n", "")
    assert shells.run(ANN, f"git -C {tmp_path}/far reset -q --hard HEAD~; cat {tmp_path}/far/a.txt") == (0, "a\n", "")
    made = f"git worktree add -q -b new {tmp_path}/new && cd {tmp_path}/new && git rm -q a.txt && git commit -qm new"
    assert shells.run(ANN, f"{made}; git show --stat --format=")[::2] == (0, "")
    assert git(tmp_path / "new", "diff", "--stat", "HEAD~", "HEAD").split("\n")[0].split() == ["a.txt", "|", "1", "-"]
    assert shells.run(ANN, "git diff --cached --name-only; git reset -q; rm h.txt") == (0, "h.txt\n", "")


IN_ANOTHER_TREE = {
    "one that it makes": "git worktree add -q -b {name} {place} && cd {place} && {edit} && {commit}",
    "one that it makes, from outside": "git worktree add -q {place} && (cd {place}; {edit}); git -C {place} {add}",
    "one that it makes in a subshell": "(git worktree add -q {place}; cd {place}; {edit}; {commit})",
    "one that it makes without a branch": "git worktree add -q --detach {place} && cd {place} && {edit} && {commit}",
    "two commits": "git worktree add -q {place} && cd {place} && {edit} && {commit} && echo 2 > new.txt && {commit}",
    "one that is there": "cd {there} && {edit} && {commit}",
    "one that is there, second": "echo 1 >/dev/null; cd src && cd {there} && {edit} && {commit}",
    "one that is there, and back": "cd {there} && {edit} && cd {root} && git -C {there} {add}",
}


@pytest.mark.parametrize("kind", IN_ANOTHER_TREE)
def test_a_command_commits_its_changes_in_another_tree(shells: Shells, tmp_path: Path, kind: str) -> None:
    name = f"on-{tmp_path.name}"
    there, place = tmp_path / "there", tmp_path / name
    git(shells.root, "worktree", "add", "-q", "--detach", str(there))
    (there / "b.txt").write_text("by a person\n")
    line = IN_ANOTHER_TREE[kind].format(
        name=name,
        place=place,
        there=there,
        root=shells.root,
        edit="sed -i s/a/A/ a.txt && echo 1 > new.txt",
        commit="git add -A && git commit -qm both",
        add="add -A",
    )
    status, _, err = shells.run(ANN, line)
    assert status == 0, err
    tree = there if "is there" in kind else place
    if "git commit" not in line:
        status, _, more = shells.run(ANN, f"git -C {tree} commit -qm both")
        assert status == 0, (err, more)
    assert git(tree, "show", "HEAD:a.txt") == "A\n", err
    assert git(tree, "show", "HEAD:new.txt") == ("2\n" if kind == "two commits" else "1\n")
    assert git(tree, "diff", "--name-only", "HEAD").split() == (["b.txt"] if tree == there else [])


def test_the_work_of_a_session_without_hooks_is_its_own_between_its_commands(shells: Shells) -> None:
    assert shells.run(BOB, "echo bob > left.txt")[0] == 0
    status, _, err = shells.run(ANN, "git add left.txt; rm -f other.txt")
    assert (status, "adopt" in err) == (0, False), err
    with shells.session(ANN) as ann:
        answer = ann.adopt("left.txt", owner=BOB)
        assert (answer.outcome, answer.why) == ("refused", f"{BOB} is still at work, and commits its work itself")
        with shells.session(BOB) as bob:
            bob.end_session()
        assert ann.adopt("left.txt", owner=BOB).outcome == "adopted"
    assert shells.run(ANN, "rm left.txt")[0] == 0


def test_other_repositories_and_an_index_of_ones_own(shells: Shells, tmp_path: Path) -> None:
    made = f"cd {tmp_path} && git init -q x && cd x && echo 1 > f && git add f && git commit -qm one && git status -s"
    assert shells.run(ANN, made)[:2] == (0, "")
    status, out, _ = shells.run(ANN, f"cd {tmp_path}/x && git describe --always --dirty && git blame -s f")
    assert (status, "-dirty" in out, out.split()[-2:]) == (0, False, ["1)", "1"])
    own = (
        f"export GIT_INDEX_FILE={tmp_path}/i; git read-tree HEAD && git rm -q --cached a.txt && git ls-files | head -1"
    )
    assert shells.run(ANN, own)[:2] == (0, "b.txt\n")
    assert "a.txt" in shells.run(ANN, "git ls-files")[1]
