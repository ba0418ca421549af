"""Agents in separate clones claim tasks through real git remotes, beside shell scripts and in spite of kills."""

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.claim_remotes import ENVIRONMENT, claiming, clone_of, git, git_daemon, git_over_http, remote_with
from tests.patience import PATIENCE_SECONDS, until

pytestmark = pytest.mark.slow

REF = "refs/commonhold/claims"
SCRIPT = """
set -eu
for round in 1 2 3 4 5 6 7 8 9 10; do
  git pull --quiet --rebase origin main
  test ! -e current_tasks/one.lock || exit 1
  mkdir -p current_tasks
  printf 'agent: %s\\nclaimed: %s\\ntask: one\\n' "$1" "$(date -u +%FT%TZ)" > current_tasks/one.lock
  git add current_tasks
  git commit --quiet -m "claim one for $1"
  git push --quiet origin HEAD:main && exit 0
  git reset --quiet --hard HEAD~1
done
exit 1
"""


@contextmanager
def by_file(folder: Path) -> Iterator[str]:
    yield f"file://{folder}/origin.git"


def told(process: subprocess.Popen[bytes]) -> tuple[int, Any]:
    out, err = process.communicate(timeout=120)
    return process.returncode, json.loads(out or err)


def call(clone: Path, *words: str, agent: str = "") -> tuple[int, Any]:
    return told(claiming(clone, *words, agent=agent))


@pytest.mark.parametrize("served", [by_file, git_daemon, git_over_http], ids=["file", "daemon", "http"])
def test_of_eight_clones_that_claim_at_once_exactly_one_gets_the_task(tmp_path: Path, served: Any) -> None:
    bare = remote_with(tmp_path, one="title: The only one\n")
    with served(tmp_path) as url:
        clones = [clone_of(url, tmp_path / f"agent{number}") for number in range(8)]
        answers = [told(each) for each in [claiming(clone) for clone in clones]]

    winners = [answer for status, answer in answers if status == 0]
    assert sorted(status for status, _ in answers) == [0] + [1] * 7
    assert winners[0]["lock"]["agent"] == _lock(bare)["agent"]
    assert {answer["tasks"][0]["state"] for status, answer in answers if status == 1} == {"held"}


def test_eight_clones_take_eight_tasks_in_the_order_of_their_needs(tmp_path: Path) -> None:
    needs = {f"t{number}": f"needs: [t{number - 4}]\n" if number >= 4 else "" for number in range(8)}
    bare = remote_with(tmp_path, **needs)
    clones = [clone_of(str(bare), tmp_path / f"agent{number}") for number in range(8)]
    first = [told(each) for each in [claiming(clone) for clone in clones]]
    got = {answer["task"]: clone for clone, (status, answer) in zip(clones, first, strict=True) if status == 0}

    assert sorted(got) == ["t0", "t1", "t2", "t3"]
    assert call(got["t1"], "done", "t1")[0] == 0
    free = next(clone for clone in clones if clone not in got.values())
    assert call(free)[1]["task"] == "t5"
    assert git(free, "status", "--short") == ""
    assert git(free, "rev-parse", "HEAD") == git(bare, "rev-parse", "main")


def test_scripts_that_add_commit_and_push_race_each_other_and_us(tmp_path: Path) -> None:
    bare = remote_with(tmp_path, one="")
    for number in range(4):
        clones = [clone_of(str(bare), tmp_path / f"agent{number}{each}") for each in range(4)]
        scripts = [
            subprocess.Popen(
                ["sh", "-c", SCRIPT, "sh", clone.name], cwd=clone, env=ENVIRONMENT, stderr=subprocess.DEVNULL
            )
            for clone in clones[:2]
        ]
        ours = [claiming(clone, "--ref", "main") for clone in clones[2:]]
        winners = [clone.name for clone, each in zip(clones, scripts, strict=False) if each.wait(120) == 0]
        winners += [clone.name for clone, each in zip(clones[2:], ours, strict=True) if told(each)[0] == 0]

        assert winners == [_lock(bare, "main")["agent"]]
        # A script completes the task, and another person makes it again.
        seed = tmp_path / "seed"
        git(seed, "pull", "--quiet", "--rebase", "origin", "main")
        git(seed, "rm", "--quiet", "current_tasks/one.lock")
        git(seed, "commit", "--quiet", "-m", "one is free again")
        git(seed, "push", "--quiet", "origin", "HEAD:main")
    fences = _fences(bare, "main")
    assert fences == sorted(set(fences))


def test_a_silent_agent_loses_its_task_and_is_told_so(tmp_path: Path) -> None:
    bare = remote_with(tmp_path, one="")
    silent, other = (clone_of(str(bare), tmp_path / name) for name in ("silent", "other"))
    _, before = call(silent, "--ttl", "1")
    assert call(other)[0] == 1
    assert call(silent, "beat", "one")[0] == 0
    assert call(other)[0] == 1  # the heartbeat has changed the lock
    time.sleep(1.1)
    status, after = call(other)

    assert (status, after["taken_over_from"]) == (0, "silent")
    assert after["lock"]["fence"] > before["lock"]["fence"]
    for words in (("beat", "one"), ("done", "one"), ("release", "one")):
        status, lost = call(silent, *words)
        assert (status, lost["outcome"], lost["lock"]["agent"]) == (1, "lost", "other")
    _, log = call(other, "log", "one")
    assert [each["did"]["one"] for each in log["commits"]] == ["takeover", "beat", "claim"]


def test_a_claim_is_kept_across_a_remote_that_is_away_for_a_while(tmp_path: Path) -> None:
    bare = remote_with(tmp_path, one="")
    clone = clone_of(str(bare), tmp_path / "agent")
    assert call(clone, "--ttl", "1")[0] == 0
    said = tmp_path / "said"
    with said.open("wb") as stderr:
        keeping = claiming(clone, "keep", "one", stderr=stderr)
    try:
        first = _lock(bare)["heartbeat"]
        until(lambda: _lock(bare)["heartbeat"] != first)
        bare.rename(tmp_path / "away")
        until(lambda: b"trying again" in said.read_bytes())
        (tmp_path / "away").rename(bare)
        before = _lock(bare)["heartbeat"]
        until(lambda: _lock(bare)["heartbeat"] != before)
    finally:
        keeping.terminate()
        keeping.communicate(timeout=PATIENCE_SECONDS)


def test_a_claim_that_is_killed_at_any_moment_is_made_or_not(tmp_path: Path) -> None:
    bare = remote_with(tmp_path, **{f"t{number}": "" for number in range(3)})
    clone, chance = clone_of(str(bare), tmp_path / "victim"), random.Random(1)
    for _ in range(5):
        process = claiming(clone)
        time.sleep(chance.uniform(0.1, 1.0))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        status, found = call(clone)
        assert status == 0
        locks = [path for path in _paths(bare) if path.endswith(".lock")]
        assert locks == [found["lock"]["path"]]
        assert call(clone, chance.choice(("release",)), found["task"])[0] == 0
    assert git(clone, "status", "--short") == ""
    fences = _fences(bare, REF)
    assert fences == sorted(set(fences))


def test_a_call_goes_on_beside_the_git_of_one_that_was_killed(tmp_path: Path) -> None:
    """That writes the same refs of the clone, and a disk may be slow."""
    bare = remote_with(tmp_path, one="")
    clone = clone_of(str(bare), tmp_path / "agent")
    call(clone, "list")
    git(tmp_path / "seed", "commit", "--quiet", "--allow-empty", "-m", "more")
    git(tmp_path / "seed", "push", "--quiet", "origin", "HEAD:main")
    git(clone, "fetch", "--quiet", "origin", "main")
    (seen,) = (clone / ".git" / "refs" / "commonhold" / "seen").iterdir()
    lock = seen.with_name(f"{seen.name}.lock")
    lock.write_text(git(bare, "rev-parse", "main"))
    writing = threading.Timer(1.0, lock.rename, (seen,))
    writing.start()
    status, found = call(clone)
    writing.join()

    assert (status, found["task"]) == (0, "one")


def test_another_tool_that_forces_the_ref_back_loses_no_claim_in_silence(tmp_path: Path) -> None:
    bare = remote_with(tmp_path, one="")
    first, second = (clone_of(str(bare), tmp_path / name) for name in ("first", "second"))
    call(first)
    git(bare, "update-ref", "-d", REF)
    _, after = call(second)

    assert after["lock"]["agent"] == "second"
    status, lost = call(first, "done", "one")
    assert (status, lost["lock"]["agent"]) == (1, "second")


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--git", "nowhere"), 2, "there is no git remote 'nowhere'"),
        (("--git", "./nowhere"), 4, "`git ls-remote` to './nowhere' failed"),
        (("--git", "--upload-pack=touch pwned"), 2, "is no remote"),
        (("--ref", "a..b"), 2, "is no name of a ref"),
        (("--task", "../x"), 3, "cannot be the name of a task"),
        (("--task", "absent"), 3, "there is no task 'absent'"),
        (("done", "current_tasks/x"), 3, "cannot be the name of a task"),
        (("--ttl", "0"), 2, "ttl"),
    ],
)
def test_bad_input_is_told_and_changes_nothing(
    tmp_path: Path, words: tuple[str, ...], status: int, message: str
) -> None:
    bare = remote_with(tmp_path, one="")
    clone = clone_of(str(bare), tmp_path / "agent")
    found, error = call(clone, *words)

    assert found == status
    assert message in error["message"]
    assert error["hint"]
    assert git(bare, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]
    assert not (clone / "pwned").exists()


def test_a_remote_that_refuses_the_push_is_quoted(tmp_path: Path) -> None:
    bare = remote_with(tmp_path, one="")
    hook = bare / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'claims are closed' >&2\nexit 1\n")
    hook.chmod(0o755)
    clone = clone_of(str(bare), tmp_path / "agent")
    status, error = call(clone)

    assert (status, error["code"], error["retryable"]) == (4, "STORE_UNREACHABLE", True)
    assert "pre-receive hook declined" in error["message"]


def test_hooks_of_the_clone_do_not_run(tmp_path: Path) -> None:
    bare = remote_with(tmp_path, one="")
    clone = clone_of(str(bare), tmp_path / "agent")
    for name in ("pre-push", "reference-transaction", "post-commit"):
        hook = clone / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\nexit 1\n")
        hook.chmod(0o755)

    assert call(clone)[0] == 0
    assert not os.path.lexists(tmp_path / "ran")


def _paths(bare: Path, ref: str = REF) -> list[str]:
    return git(bare, "ls-tree", "-r", "--name-only", ref, status=None).split()


def _lock(bare: Path, ref: str = REF) -> dict[str, str]:
    text = git(bare, "show", f"{ref}:current_tasks/one.lock")
    return dict(line.split(": ", 1) for line in text.splitlines())


def _fences(bare: Path, ref: str) -> list[int]:
    """The fences of all claims, oldest first."""
    trailers = "%(trailers:key=Commonhold-Action,key=Commonhold-Fence,valueonly,separator=%x20)"
    lines = [line.split() for line in git(bare, "log", "--reverse", f"--format={trailers}", ref).splitlines()]
    return [int(line[1]) for line in lines if line[:1] in (["claim"], ["takeover"])]
