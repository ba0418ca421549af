"""`commonhold queue` in real repositories: good branches land, bad ones come back, killed runners lose nothing."""

import json
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.branches import asked, commit
from tests.e2e.cli_driver import SAMPLE, Call, git, start
from tests.patience import PATIENCE_SECONDS, until

import commonhold
from commonhold.kernel.entry import EntryState
from commonhold.kernel.projection import fold
from commonhold.machine.process_tree import with_variable
from commonhold.workspace.checks import WORKTREE
from commonhold.workspace.git.integration import NOTES

pytestmark = pytest.mark.slow

CHECK = "! grep -q broken *.txt"
ONE = {"a.py": SAMPLE.replace("LIMIT = 3", "LIMIT = 4")}
CLASH = {"a.py": SAMPLE.replace("LIMIT = 3", "LIMIT = 5")}
TWO = {"a.py": SAMPLE.replace("size = 1", "size = 2")}


def make(root: Path, name: str, files: Any) -> str:
    git(root, "switch", "--quiet", "--create", name, "main")
    commit(root, files, f"what {name} does")
    git(root, "switch", "--quiet", "main")
    return asked(root, "rev-parse", name)


def states(run: Call, *words: str) -> dict[str, str]:
    found = run("queue", "list", "--all", "--json", *words)
    return {each["branch"]: each["state"] for each in found.json["entries"]}


def packet(run: Call, branch: str) -> Any:
    listed = run("queue", "list", "--all", "--json").json["entries"]
    return next(each["packet"] for each in listed if each["branch"] == branch)


def test_good_branches_land_together_and_each_bad_one_comes_back_with_its_reason(root: Path, run: Call) -> None:
    make(root, "one", ONE)
    make(root, "bad", {"bad.txt": "broken\n"})
    make(root, "clash", CLASH)
    make(root, "two", TWO)
    for name in ("one", "bad", "clash", "two"):
        assert run("queue", "add", name).status == 0
    assert "next: commonhold queue list" in run("queue", "add", "one").text
    listed = run("queue", "list").text
    assert "main: 4 queued, 0 testing, 0 landed; nothing has landed; no process runs it" in listed
    found = run("queue", "run", "--check", CHECK, "--until-empty", "--json")
    assert found.status == 0, found.err
    steps = [json.loads(line) for line in found.out.splitlines()]
    assert [each["branch"] for each in steps if each["state"] == "landed"] == ["one", "two"]
    assert states(run) == {"one": "landed", "bad": "returned", "clash": "returned", "two": "landed"}
    assert (packet(run, "clash")["fault"], packet(run, "bad")["fault"]) == ("MERGE_CONFLICT", "CHECK_FAILED")
    assert packet(run, "clash")["conflicts"][0]["path"] == "a.py"
    text = (root / "a.py").read_text(encoding="utf-8")
    assert ("LIMIT = 4" in text, "size = 2" in text) == (True, True)
    assert asked(root, "status", "--porcelain", "--untracked-files=no") == ""
    assert asked(root, "log", "--format=%(trailers:key=Commonhold-Agent,valueonly)", "-1") == "ann"
    shown = run("queue", "show", run("queue", "list", "--all", "--json").json["entries"][2]["id"]).text
    assert "[MERGE_CONFLICT]" in shown
    assert "next: git switch clash && commonhold merge main --keep-conflicts" in shown
    again = run("queue", "add", "clash")
    assert (again.status, "refused [ENTRY_RETURNED]" in again.text, again.text.count("next: ")) == (1, True, 1)
    idle = run("queue", "run", "--until-empty")
    assert idle.status == 0
    assert "notice: without --check" in idle.err
    assert "nothing is queued for main" in idle.err
    assert "the queue is empty" in run("queue", "list").text


def test_the_log_explains_the_queue_and_replays(root: Path, run: Call) -> None:
    make(root, "one", ONE)
    run("queue", "add", "one")
    run("queue", "run", "--until-empty")
    with commonhold.open(str(root)) as hold:
        log = hold.log(after=0, limit=10_000)
        shown = hold.entries(all_states=True)
    assert list(fold(log).entries.values()) == [each.record for each in shown.entries]
    assert [each.record.state for each in shown.entries] == [EntryState.LANDED]
    replayed = run("replay", "--json").json
    assert (replayed["outcome"], replayed["checked"]["entry_moved"]) == ("same", replayed["events"]["entry_moved"])
    told = run("explain", f"entry:{shown.entries[0].record.id}")
    assert (told.status, "landed" in told.text) == (0, True)
    assert " landed as " in run("log").text


def done(run: Call, name: str, branch: str) -> None:
    assert run("task", "add", name, "--id", name, "--target", "main").status == 0
    fence = run("task", "claim", name, "--json").json["tasks"][0]["fence"]
    assert run("task", "done", name, "--fence", str(fence), "--commit", branch).status == 0


def test_a_task_lands_with_its_entry_or_goes_back_to_the_session_that_did_it(root: Path, run: Call) -> None:
    make(root, "one", ONE)
    make(root, "clash", CLASH)
    early = run("queue", "add", "one", "--task", "nowhere")
    assert (early.status, "TASK_UNKNOWN" in early.err) == (3, True)
    done(run, "price", "one")
    done(run, "limit", "clash")
    assert "stranded" in run("task", "list").text
    for name, branch in (("price", "one"), ("limit", "clash")):
        assert run("queue", "add", branch, "--task", name, "--session", "s7").status == 0
    assert run("queue", "run", "--until-empty").status == 0
    shown = {each["id"]: each for each in run("task", "list", "--all", "--json").json["tasks"]}
    assert (shown["price"]["state"], shown["limit"]["state"]) == ("landed", "open")
    assert "commonhold queue show" in shown["limit"]["note"]
    body = asked(root, "log", "-1", "--format=%B")
    assert "Commonhold-Task: price\nCommonhold-Session: s7\nCommonhold-Agent: ann" in body
    git(root, "reset", "--quiet", "--hard", "HEAD^")
    assert "no longer part of the branch, which was reset" in run("queue", "list", "--all").text


def test_a_runner_killed_at_any_moment_is_followed_by_one_that_goes_on(root: Path, run: Call) -> None:
    for number in range(4):
        make(root, f"b{number}", {f"n{number}.txt": "fine\n"})
        run("queue", "add", f"b{number}")
    first_one = root.parent / "first"
    check = f"if mkdir {first_one}; then sleep 600; fi"
    with start("queue", "run", "--check", check, "--ttl", "3", cwd=root) as first:
        until(first_one.exists, what="the check runs")
        first.send_signal(signal.SIGKILL)
    assert set(states(run).values()) == {"testing"}
    head = asked(root, "rev-parse", "main")
    with start("queue", "run", "--check", check, "--until-empty", cwd=root) as second:
        out, err = second.communicate(timeout=60)
    assert second.returncode == 0, err
    assert states(run) == {f"b{number}": "landed" for number in range(4)}
    landed = asked(root, "log", "--first-parent", "--format=%s", f"{head}..main").splitlines()
    assert len(landed) == len(set(landed)) == 4
    assert out.count(b"landed") == 4
    assert with_variable(WORKTREE, str(root)) == (), "the check of the killed runner has ended"


def test_two_runners_of_one_queue_land_each_entry_once(root: Path, run: Call) -> None:
    for number in range(4):
        make(root, f"b{number}", {f"n{number}.txt": "fine\n"})
        run("queue", "add", f"b{number}")
    head = asked(root, "rev-parse", "main")
    words = ("queue", "run", "--check", CHECK, "--batch", "1", "--until-empty")
    runners = [start(*words, cwd=root) for _ in range(2)]
    ended = [each.communicate(timeout=120) for each in runners]
    assert [each.returncode for each in runners] == [0, 0], ended
    assert set(states(run).values()) == {"landed"}
    landed = asked(root, "log", "--first-parent", "--format=%s", f"{head}..main").splitlines()
    assert sorted(landed) == sorted(f"Land b{number}: what b{number} does" for number in range(4))


def test_a_checkout_in_the_way_holds_the_landing_up_and_is_left_alone(root: Path, run: Call) -> None:
    make(root, "one", ONE)
    run("queue", "add", "one")
    (root / "a.py").write_text("mine\n", encoding="utf-8")
    held = run("queue", "run", "--until-empty")
    assert held.status == 1
    assert "a.py would be overwritten: commit or stash it there" in held.err
    assert (root / "a.py").read_text(encoding="utf-8") == "mine\n"
    assert "would be overwritten: commit or stash it there; no process runs the queue" in run("queue", "list").text
    refused = run("queue", "remove", run("queue", "list", "--json").json["entries"][0]["id"])
    assert (refused.status, "its batch has passed" in refused.text) == (1, True)
    git(root, "checkout", "--quiet", "a.py")
    assert run("queue", "run", "--until-empty").status == 0
    assert states(run) == {"one": "landed"}
    assert "LIMIT = 4" in (root / "a.py").read_text(encoding="utf-8")


def test_predicted_conflicts_are_told_before_anything_is_merged(root: Path, run: Call) -> None:
    make(root, "one", ONE)
    make(root, "clash", CLASH)
    make(root, "two", TWO)
    run("queue", "add", "one")
    found = run("queue", "check", "--json")
    assert found.status == 1
    assert found.json["conflicts"] == [{"one": "one", "other": "clash", "keys": ["file:a.py#@header"]}]
    assert "one and clash: file:a.py#@header" in run("queue", "check").text
    assert run("queue", "check", "two").status == 0
    assert "no two of these branches" in run("queue", "check", "two").text


def test_an_entry_is_removed_and_a_newer_push_replaces_an_older(root: Path, run: Call) -> None:
    make(root, "one", ONE)
    first = run("queue", "add", "one", "--priority", "3", "--json").json["entries"][0]
    same = run("queue", "add", "one")
    assert (same.status, "with this commit" in same.text) == (0, True)
    git(root, "switch", "--quiet", "one")
    commit(root, {"b.txt": "b\n"}, "more")
    git(root, "switch", "--quiet", "main")
    newer = run("queue", "add", "one", "--json").json
    assert (newer["outcome"], newer["entries"][0]["id"], newer["entries"][0]["title"]) == (
        "changed",
        first["id"],
        "more",
    )
    gone = run("queue", "remove", first["id"], "--note", "not yet", "--json").json["entries"][0]
    assert (gone["state"], gone["note"], gone["packet"]) == ("returned", "not yet", None)
    assert run("queue", "remove", first["id"]).status == 1


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("queue", "add", "nowhere"), 3, "git knows no commit 'nowhere'"),
        (("queue", "add", "main"), 2, "main cannot land on itself"),
        (("queue", "add", "HEAD", "--onto", "nowhere"), 3, "there is no local branch 'nowhere'"),
        (("queue", "add", "HEAD", "--check", "a\nb"), 3, "control character"),
        (("queue", "show", "e99"), 3, "there is no entry 'e99'"),
        (("queue", "remove", "e99"), 3, "there is no entry 'e99'"),
        (("queue", "run", "--deadline", "soon"), 2, "--deadline takes a time above zero"),
        (("queue", "run", "--onto", "nowhere"), 3, "there is no local branch 'nowhere'"),
        (("queue", "check", "nowhere"), 3, "git knows no commit 'nowhere'"),
    ],
)
@pytest.mark.usefixtures("root")
def test_bad_input_gets_a_clear_error(run: Call, words: tuple[str, ...], status: int, said: str) -> None:
    found = run(*words)
    assert (found.status, said in found.err) == (status, True), found.err


def test_the_history_is_listed_by_page(root: Path, run: Call) -> None:
    for name in ("one", "two", "three"):
        git(root, "branch", name, make(root, f"{name}-made", {f"{name}.txt": "fine\n"}))
        run("queue", "remove", run("queue", "add", name, "--json").json["entries"][0]["id"])
    assert "the queue is empty" in run("queue", "list").text
    page = run("queue", "list", "--all", "--limit", "1", "--json").json
    assert ([each["branch"] for each in page["entries"]], page["has_older"]) == (["three"], True)
    third = page["entries"][0]["id"]
    older = run("queue", "list", "--before", third, "--json").json
    assert ([each["branch"] for each in older["entries"]], "has_older" in older) == (["one", "two"], False)
    assert f"older ones: commonhold queue list --before {third}" in run("queue", "list", "--all", "--limit", "1").text
    assert run("queue", "list", "--before", "e99").status == 3


def test_watch_prints_what_changes(root: Path, run: Call) -> None:
    make(root, "one", ONE)
    run("queue", "add", "one")
    with start("queue", "watch", "--json", cwd=root) as watching:
        assert watching.stdout is not None
        assert json.loads(watching.stdout.readline())["entries"][0]["branch"] == "one"
        watching.send_signal(signal.SIGINT)
        assert watching.wait(PATIENCE_SECONDS) == 0


def test_ctrl_c_ends_a_runner_in_order(root: Path, run: Call) -> None:
    make(root, "one", ONE)
    run("queue", "add", "one")
    started = root.parent / "started"
    with start("queue", "run", "--check", f"touch {started}; sleep 60", cwd=root) as runner:
        until(started.exists, what="the check runs")
        runner.send_signal(signal.SIGINT)
        assert runner.wait(PATIENCE_SECONDS) == 0
    assert states(run) == {"one": "queued"}
    assert "no process runs it" in run("queue", "list").text
    found = subprocess.run(["pgrep", "-f", f"touch {started}"], check=False, capture_output=True)
    assert found.stdout == b""


def test_an_entry_that_git_cannot_merge_comes_back_and_the_rest_lands(root: Path, run: Call) -> None:
    make(root, "one", ONE)
    made = make(root, "odd", {"odd.txt": "fine\n"})
    # Git itself writes no commit without the name of an author, and merges none.
    text = re.sub(r"(?m)^author [^<]+", "author  ", asked(root, "cat-file", "commit", made))
    written = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        cwd=root,
        input=text.encode() + b"\n",
        check=True,
        capture_output=True,
    )
    git(root, "branch", "--force", "odd", written.stdout.decode().strip())
    git(root, "update-ref", f"{NOTES}/in-the-way", "main")  # so no notes can be written
    for name in ("odd", "one"):
        assert run("queue", "add", name).status == 0
    found = run("queue", "run", "--check", CHECK, "--until-empty")
    assert found.status == 0, found.err
    assert states(run) == {"one": "landed", "odd": "returned"}
    assert packet(run, "odd")["fault"] == "MERGE_FAILED"
    assert "empty ident name" in packet(run, "odd")["why"]
    listed = run("queue", "list", "--all").text
    assert "its commits have no notes" in listed
    assert "next: git switch odd && git merge main" in run("queue", "show", "e1").text


def test_a_machine_that_lacks_the_command_or_the_branch_returns_no_entry(root: Path, run: Call) -> None:
    make(root, "one", ONE)
    run("queue", "add", "one")
    tool = root.parent / "tool"
    git(root, "switch", "--quiet", "--detach", "main")
    git(root, "branch", "--move", "main", "elsewhere")
    missing = run("queue", "run", "--onto", "main", "--until-empty")
    assert (missing.status, "no local branch 'main'" in missing.err) == (3, True)
    git(root, "branch", "--move", "elsewhere", "main")
    with start("queue", "run", "--check", str(tool), cwd=root) as runner:
        assert runner.stderr is not None
        said = runner.stderr.readline().decode()
        assert "waiting: the check" in said
        assert "(exit status 127), for the branch itself, too" in said
        assert "mend this machine" in said
        tool.write_text("#!/bin/sh\n", encoding="utf-8")
        tool.chmod(0o755)
        until(lambda: states(run) == {"one": "landed"}, what="the entry lands")
        runner.send_signal(signal.SIGINT)
        assert runner.wait(PATIENCE_SECONDS) == 0


def test_with_push_the_remote_gets_what_was_tested_on_top_of_what_others_push(root: Path, run: Call) -> None:
    origin, other = root.parent / "origin.git", root.parent / "other"
    git(root, "init", "--quiet", "--bare", str(origin))
    git(root, "remote", "add", "origin", str(origin))
    git(root, "push", "--quiet", "origin", "main")
    git(root, "clone", "--quiet", "--branch", "main", str(origin), str(other))
    commit(other, {"by-hand.txt": "fine\n"}, "by hand")
    make(root, "one", {"one.txt": "fine\n"})
    make(root, "bad", {"bad.txt": "broken\n"})
    for name in ("one", "bad"):
        run("queue", "add", name)
    assert run("queue", "run", "--push", "nowhere").status == 2
    # The first check pushes somebody else's commit, while the batch is being tested.
    push = f"mkdir {root.parent}/pushed 2>/dev/null && git -C {other} push --quiet origin main"
    found = run("queue", "run", "--push", "origin", "--check", f"{push}; {CHECK}", "--until-empty")
    assert found.status == 0, found.err
    assert states(run) == {"one": "landed", "bad": "returned"}
    here, there = asked(root, "rev-parse", "main"), asked(root, "ls-remote", "origin", "refs/heads/main")
    assert there.split("\t")[0] == here
    assert asked(root, "log", "--first-parent", "--format=%s", "-2").splitlines() == [
        "Land one: what one does",
        "by hand",
    ]
    assert (root / "one.txt").exists()
    assert (root / "by-hand.txt").exists()


def test_in_parallel_the_first_of_a_suspected_batch_lands_or_returns_at_once(root: Path, run: Call) -> None:
    for name, text in (("one", "fine"), ("bad", "broken"), ("two", "fine"), ("three", "fine"), ("four", "fine")):
        make(root, name, {f"{name}.txt": f"{text}\n"})
        run("queue", "add", name)
    found = run("queue", "run", "--parallel", "--check", CHECK, "--until-empty", "--json")
    assert found.status == 0, found.err
    steps = [json.loads(line) for line in found.out.splitlines()]
    ended = [each["branch"] for each in steps if each["state"] in ("landed", "returned")]
    assert ended[:2] == ["one", "bad"]
    assert states(run) == {"bad": "returned", **dict.fromkeys(("one", "two", "three", "four"), "landed")}
    assert run("replay").status == 0
