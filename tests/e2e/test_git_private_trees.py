"""The private tree in which hooks of commits run beside others' work is kept, and holds what is committed alone."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.git_sessions import Checkout, make_checkout
from tests.patience import until

from commonhold.agents.git import private_trees

pytestmark = pytest.mark.slow

ANN, BOB = "claude:ann", "codex:bob"
FILES = {f"pkg/m{number}.py": f"value = {number}\n" for number in range(8)}
IGNORED = "node_modules/\nbuild/\n*.log\n"
LOOK = """
all() { git status --porcelain --untracked-files=all; git ls-files -s; find . -path ./.git -prune -o -print | sort; }
all > "$SEEN/seen.txt"; { pwd; stat -c %i pkg/m7.py; } > "$SEEN/place.txt"
"""
"""It writes down what a hook finds, outside of the tree."""


class Beside:
    """Ann commits beside what Bob and a person have not committed, with a hook."""

    def __init__(self, checkout: Checkout, folder: Path) -> None:
        self.checkout = checkout
        self.folder = folder
        folder.mkdir()

    def hook(self, text: str) -> None:
        place = self.checkout.root / ".git" / "hooks" / "pre-commit"
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\nSEEN={self.folder}\n{text}\n", encoding="utf-8")
        place.chmod(0o755)

    def commit(self, holder: str = ANN, path: str = "pkg/m0.py", content: str = "value = 10\n") -> None:
        self.checkout.edit(holder, path, content)
        self.checkout.git(holder, "commit", "-qm", "x", path, ok=True)

    def seen(self) -> list[str]:
        return (self.folder / "seen.txt").read_text(encoding="utf-8").splitlines()

    def place(self) -> list[str]:
        """Where the last hook ran, and the inode of a file there that nobody changes."""
        return (self.folder / "place.txt").read_text(encoding="utf-8").splitlines()

    def kept(self) -> list[Path]:
        return list(self.folder.parent.glob("commonhold-commit-*"))

    def afresh(self, content: str) -> list[str]:
        """What the hook of the next commit finds in a tree that is made for it."""
        self.checkout.calls.close()
        assert self.kept() == []
        self.commit(content=content)
        return self.seen()


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Beside:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    checkout = make_checkout(tmp_path / "work", {**FILES, ".gitignore": IGNORED, "other.txt": "other\n"})
    checkout.edit(BOB, "bob.py", "def b():\n    return 0\n")
    checkout.put("other.txt", "by hand\n")
    return Beside(checkout, tmp_path / "seen")


def test_the_second_commit_finds_the_files_of_the_first(beside: Beside) -> None:
    beside.hook(LOOK)
    beside.commit()
    first = beside.place()
    assert Path(first[0]).name == beside.checkout.root.name, "tools that go by the folder's name find it"
    beside.commit(BOB, "pkg/m1.py", "value = 11\n")
    assert beside.place() == first, "another session's commit uses the same files"
    assert len(beside.kept()) == 1
    assert beside.checkout.committed("pkg/m1.py") == "value = 11\n"


MESSES = {
    "new files": "echo > new.py; mkdir -p deep/er; echo > deep/er/new.txt; mkdir empty; ln -s /etc link",
    "ignored files": "echo > x.log; mkdir -p build/deep node_modules; echo > build/deep/x; echo > node_modules/x",
    "other bytes": "echo changed >> pkg/m3.py; rm pkg/m4.py; chmod +x pkg/m5.py",
    "the same size": "printf 'value = 9\\n' > pkg/m3.py; touch -r pkg/m2.py pkg/m3.py",
    "folders for files": "rm pkg/m3.py; mkdir pkg/m3.py; echo > pkg/m3.py/x; rm -r .gitignore",
    "links for folders": 'mv pkg gone; mkdir "$SEEN/elsewhere"; ln -s "$SEEN/elsewhere" pkg; cp gone/* pkg/',
    "another repository": "git init -q nested; cd nested; echo > x; git add x; cd ..; rm .git; mkdir .git",
}


@pytest.mark.parametrize("mess", MESSES)
def test_what_a_hook_left_is_gone_in_the_next_commit(beside: Beside, mess: str) -> None:
    beside.hook(f"unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE; {MESSES[mess]}; exit 1")
    beside.checkout.edit(ANN, "pkg/m0.py", "value = 10\n")
    beside.checkout.git(ANN, "commit", "-qm", "x", "pkg/m0.py", ok=False)
    kept = beside.kept()
    # What came of it in the working tree is taken back by a person, so that both find the same.
    beside.checkout.person("checkout", "-q", "--", "pkg", ".gitignore")
    beside.checkout.person("clean", "-qfdx", "-e", "bob.py")
    beside.hook(LOOK)
    beside.commit(content="value = 20\n")
    assert beside.kept() == kept
    assert beside.checkout.changed_in() == {"pkg/m0.py"}
    found = beside.seen()
    assert [line for line in beside.afresh("value = 30\n") if "m0.py" not in line] == [
        line for line in found if "m0.py" not in line
    ]


def test_links_to_what_is_ignored_keep_in_step(beside: Beside) -> None:
    beside.hook(LOOK)
    beside.checkout.put("node_modules/a/index.js", "a\n")
    beside.checkout.put("node_modules/b/index.js", "b\n")
    beside.checkout.put("cfg.log", "c\n")
    beside.checkout.put("tools/build/t", "t\n")
    beside.commit()
    assert {"./node_modules/a", "./node_modules/b", "./cfg.log", "./tools/build/t"} <= {*beside.seen()}
    (beside.checkout.root / "cfg.log").unlink()
    (beside.checkout.root / "node_modules/a").rename(beside.checkout.root / "node_modules/c")
    beside.checkout.put("more.log", "m\n")
    beside.commit(content="value = 20\n")
    found = {*beside.seen()}
    assert {"./node_modules/b", "./node_modules/c", "./more.log", "./tools/build/t"} <= found
    assert not {"./node_modules/a", "./cfg.log"} & found
    # What is not ignored any more is no link that `git add -A` would take; folders that tools fill stay.
    beside.checkout.put(".gitignore", "build/\n")
    beside.checkout.person("commit", "-qm", "rules", ".gitignore")
    beside.commit(content="value = 30\n")
    assert not any(".log" in line for line in beside.seen())
    assert "./node_modules/b" in beside.seen()
    assert "node_modules" not in beside.checkout.person("ls-files").out


def test_files_of_another_branch_are_brought_up(beside: Beside) -> None:
    beside.hook(LOOK)
    beside.commit()
    where = beside.place()[0]
    for path in ("pkg/m6.py", "pkg/m5.py"):
        beside.checkout.put(path, None)
    beside.checkout.put("pkg/m5.py/inner.py", "inner = 1\n")
    beside.checkout.put("made/new.py", "new = 1\n")
    beside.checkout.person("add", "pkg", "made")
    beside.checkout.person("commit", "-qm", "by a person")
    beside.commit(content="value = 20\n")
    assert beside.place()[0] == where
    found = {*beside.seen()}
    assert {"./pkg/m5.py/inner.py", "./made/new.py", "M  pkg/m0.py"} <= found
    assert "./pkg/m6.py" not in found


WAITING = """
case $(pwd) in *commonhold-commit-*) touch "{0}/begun"; until [ -e "{0}/go" ]; do sleep 0.02; done;; esac; cat
"""
BEGIN = """
import sys, tempfile
from pathlib import Path
from tests.e2e.git_sessions import Checkout
tempfile.tempdir = sys.argv[3]
checkout = Checkout(Path(sys.argv[1]))
asked = {"holder": sys.argv[2], "cwd": sys.argv[1], "argv": ["commit", "-qm", "x", "pkg/m0.py"]}
checkout.calls.begin(asked)
checkout.calls.begin({**asked, "has_turn": 1})
"""


def killed_while_it_is_brought_up(beside: Beside) -> None:
    """Kill -9 who brings up the private tree, together with git, while git writes a file there."""
    root = str(beside.checkout.root)
    beside.checkout.person("config", "filter.wait.smudge", WAITING.format(beside.folder).strip())
    beside.checkout.put(".git/info/attributes", "m0.py filter=wait\n")
    beside.checkout.edit(ANN, "pkg/m0.py", "value = 20\n")
    words = [sys.executable, "-c", BEGIN, root, ANN, str(beside.folder.parent)]
    with subprocess.Popen(words, start_new_session=True) as process:
        until((beside.folder / "begun").exists)
        os.killpg(process.pid, signal.SIGKILL)
    beside.checkout.put(".git/info/attributes", "")


@pytest.mark.parametrize("is_first", [True, False], ids=["made", "kept"])
def test_one_that_is_half_brought_up_is_made_anew(beside: Beside, *, is_first: bool) -> None:
    beside.hook(LOOK)
    if not is_first:
        beside.commit()
    killed_while_it_is_brought_up(beside)
    half = beside.kept()
    assert len(half) == 1
    # The git of a call that died may live on, and write there.
    beside.commit(content="value = 30\n")
    assert len(beside.kept()) == 1
    assert beside.kept() != half
    assert beside.checkout.committed("pkg/m0.py") == "value = 30\n"
    found = beside.seen()
    assert beside.afresh("value = 40\n")[-1:] == found[-1:]


def asked(beside: Beside, holder: str, path: str) -> dict[str, Any]:
    return {"holder": holder, "cwd": str(beside.checkout.root), "argv": ["commit", "-qm", "x", path], "has_turn": 1}


def test_two_commits_at_once_never_share_one(beside: Beside) -> None:
    """Also where the turn was lost: who waits for a hook was killed, and the hook lives on."""
    beside.hook(LOOK)
    beside.commit()
    beside.checkout.edit(ANN, "pkg/m1.py", "value = 11\n")
    beside.checkout.edit(BOB, "pkg/m2.py", "value = 12\n")
    begun = [beside.checkout.calls.begin(asked(beside, *each)) for each in ((ANN, "pkg/m1.py"), (BOB, "pkg/m2.py"))]
    folders = [answer["env"]["GIT_WORK_TREE"] for answer in begun]
    assert len({*folders}) == len(beside.kept()) == 2
    assert [Path(folder, "pkg/m1.py").read_text(encoding="utf-8") for folder in folders] == [
        "value = 11\n",
        "value = 1\n",
    ]
    for answer in begun:
        beside.checkout.calls.end({"after": answer["after"], "status": 1})
    assert len(beside.kept()) == 1, "one is kept, however many there were"


def test_sessions_that_commit_at_one_time_commit_their_own(beside: Beside) -> None:
    beside.hook("git add -A")
    holders = [f"claude:{number}" for number in range(4)]
    for number, holder in enumerate(holders):
        beside.checkout.edit(holder, f"pkg/m{number}.py", f"value = 1{number}\n")

    def commit(number: int) -> None:
        beside.checkout.git(holders[number], "commit", "-qm", holders[number], f"pkg/m{number}.py", ok=True)

    with ThreadPoolExecutor() as pool:
        list(pool.map(commit, range(4)))
    made = {beside.checkout.person("log", "-1", "--format=%s", f"HEAD~{n}").out.strip(): n for n in range(4)}
    for number, holder in enumerate(holders):
        assert beside.checkout.changed_in(f"HEAD~{made[holder]}") == {f"pkg/m{number}.py"}
    assert len(beside.kept()) == 1


def aged(beside: Beside, pattern: str, seconds: float) -> None:
    for note in (beside.checkout.root / ".git" / "commonhold" / "git").glob(pattern):
        then = note.stat().st_mtime - seconds
        os.utime(note, (then, then))


def unused(beside: Beside) -> None:
    aged(beside, "*/private", private_trees.UNUSED_SECONDS)


def never_ended(beside: Beside) -> None:
    beside.checkout.edit(ANN, "pkg/m1.py", "value = 11\n")
    beside.checkout.calls.begin(asked(beside, ANN, "pkg/m1.py"))
    aged(beside, "*/*/private-*", private_trees.LEFT_SECONDS)


def without_repository(beside: Beside) -> None:
    for note in (beside.checkout.root / ".git" / "commonhold" / "git").glob("*/private"):
        note.unlink()
    (kept,) = beside.kept()
    then = kept.stat().st_mtime - private_trees.LEFT_SECONDS
    os.utime(kept, (then, then))


@pytest.mark.parametrize("how", [unused, never_ended, without_repository])
def test_what_nobody_uses_any_more_is_taken_away(beside: Beside, how: Callable[[Beside], None]) -> None:
    beside.hook(LOOK)
    beside.commit()
    folder = beside.checkout.root / ".git" / "commonhold" / "git"
    private_trees.remove_unused(folder)
    assert len(beside.kept()) == 1
    how(beside)
    private_trees.remove_unused(folder)
    assert beside.kept() == []
    beside.commit(content="value = 20\n")
    assert len(beside.kept()) == 1


def test_one_in_another_folder_for_temporary_files_is_not_used(beside: Beside, tmp_path: Path) -> None:
    """The shell of a session may be kept from all but its own."""
    beside.hook(LOOK)
    beside.commit()
    (tmp_path / "tmp").mkdir()
    beside.checkout.edit(ANN, "pkg/m1.py", "value = 11\n")
    begun = beside.checkout.calls.begin({**asked(beside, ANN, "pkg/m1.py"), "temporary": str(tmp_path / "tmp")})
    assert begun["env"]["GIT_WORK_TREE"].startswith(str(tmp_path / "tmp"))
    assert beside.kept() == []


def test_a_folder_that_others_may_write_is_not_used(beside: Beside) -> None:
    beside.hook(LOOK)
    beside.commit()
    (kept,) = beside.kept()
    kept.chmod(0o777)
    beside.commit(content="value = 20\n")
    assert kept not in beside.kept()


def test_uninstalling_takes_it_away(beside: Beside) -> None:
    beside.hook(LOOK)
    beside.commit()
    program = Path(sys.executable).with_name("commonhold")
    subprocess.run([program, "uninstall", "--yes"], cwd=beside.checkout.root, check=True, capture_output=True)
    assert beside.kept() == []
