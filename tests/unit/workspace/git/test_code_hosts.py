"""Pull requests by `gh` and `glab`. Neither can sign in here, so a script under their names records its call."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.cli_driver import git

from commonhold.kernel.errors import Code, StoreError, UsageError
from commonhold.workspace.git.code_hosts import CodeHost, PullRequest
from commonhold.workspace.git.process import Git

pytestmark = pytest.mark.slow

Install = Callable[..., Path]
URL = "https://example.test/ann/project/pull/7"
WISH = PullRequest("agent/s1", "main", "--web", "- round\n`prices` $(touch x)\n")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository with the branch `agent/s1`, and a bare one as its remote `origin`."""
    root, remote = tmp_path / "work", tmp_path / "remote.git"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "one")
    git(root, "branch", "agent/s1")
    git(root, "init", "-q", "--bare", str(remote))
    git(root, "remote", "add", "origin", str(remote))
    return root


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes a program of that name the only one besides the system's, which records its arguments; its record."""
    folder = tmp_path / "bin"
    folder.mkdir()
    git_program = next(Path(each, "git") for each in os.get_exec_path() if Path(each, "git").exists())
    (folder / "git").symlink_to(git_program)
    monkeypatch.setenv("PATH", str(folder))

    def made(name: str, says: str = URL, error: str = "", status: int = 0) -> Path:
        record, program = tmp_path / f"{name}.called", folder / name
        answers = f"echo {shlex.quote(says)}; echo {shlex.quote(error)} >&2; exit {status}"
        program.write_text(f'#!/bin/sh\nprintf \'%s\\0\' "$GH_PROMPT_DISABLED" "$@" > {record}\n{answers}\n')
        program.chmod(0o755)
        return record

    return made


def told(root: Path, *words: str) -> str:
    return Git(str(root)).ask(*words).decode().strip()


def called(record: Path) -> list[str]:
    return record.read_text().split("\0")[:-1]


def test_a_branch_is_pushed_and_its_request_opened_by_gh(work: Path, install: Install, tmp_path: Path) -> None:
    record = install("gh")
    host = CodeHost(Git(str(work)), "origin")
    host.push(WISH.branch)
    assert told(work, "ls-remote", "origin", "refs/heads/agent/s1").split()[0] == told(work, "rev-parse", "agent/s1")
    assert host.open(WISH) == URL
    assert called(record) == [
        *("1", "pr", "create", f"--repo={tmp_path / 'remote.git'}", "--head=agent/s1", "--base=main"),
        *("--title=--web", f"--body={WISH.body}"),
    ]
    assert not (work / "x").exists()


@pytest.mark.parametrize("url", ["https://gitlab.com/ann/project.git", "git@gitlab.example.com:ann/project.git"])
def test_a_remote_of_gitlab_gets_a_merge_request_by_glab(work: Path, install: Install, url: str) -> None:
    install("gh")
    record = install("glab", says="!7 fix\n " + URL)
    git(work, "remote", "set-url", "origin", url)
    host = CodeHost(Git(str(work)), "origin")
    assert host.open(PullRequest("agent/s1", "main", "fix", "all", is_draft=True)) == f"!7 fix {URL}"
    words = ("--source-branch=agent/s1", "--target-branch=main", "--title=fix", "--description=all", "--yes", "--draft")
    assert called(record)[1:] == ["mr", "create", f"--repo={url}", *words]


def test_a_chosen_program_is_taken_and_never_gets_a_password(work: Path, install: Install) -> None:
    record = install("glab")
    git(work, "remote", "set-url", "origin", "https://ann:secret@git.example.com/ann/project.git")
    CodeHost(Git(str(work)), "origin", "glab").open(WISH)
    assert "--repo=https://git.example.com/ann/project.git" in called(record)
    assert "secret" not in record.read_text()


def test_a_request_that_is_open_already_is_named(work: Path, install: Install) -> None:
    install(
        "gh", says="", error=f'a pull request for branch "agent/s1" into branch "main" already exists:\n{URL}', status=1
    )
    assert CodeHost(Git(str(work)), "origin").open(WISH).endswith(URL)


def test_the_words_of_a_program_that_fails_are_passed_on(work: Path, install: Install) -> None:
    install("gh", says="", error="To get started, please run:  gh auth login", status=4)
    with pytest.raises(StoreError, match=r"please run: gh auth login") as caught:
        CodeHost(Git(str(work)), "origin").open(WISH)
    assert caught.value.code is Code.CODE_HOST_FAILED


def test_what_is_missing_is_named_before_anything_is_pushed(work: Path, install: Install) -> None:
    with pytest.raises(UsageError, match="gh is not installed") as caught:
        CodeHost(Git(str(work)), "origin")
    assert "gh auth login" in caught.value.hint
    install("gh")
    with pytest.raises(UsageError, match="there is no git remote 'upstream'"):
        CodeHost(Git(str(work)), "upstream")
    assert told(work, "ls-remote", "origin") == ""


def test_commits_that_only_the_remote_has_are_kept(work: Path, install: Install) -> None:
    install("gh")
    git(work, "push", "-q", "origin", "agent/s1")
    git(work, "commit", "-q", "--allow-empty", "-m", "by a reviewer")
    git(work, "push", "-q", "origin", "main:agent/s1")
    theirs = told(work, "ls-remote", "origin")
    git(work, "branch", "-f", "agent/s1", told(work, "commit-tree", "-m", "again", "HEAD^{tree}"))
    with pytest.raises(StoreError, match="cannot be pushed") as caught:
        CodeHost(Git(str(work)), "origin").push("agent/s1")
    assert caught.value.hint.endswith("git push --force-with-lease origin agent/s1")
    assert told(work, "ls-remote", "origin") == theirs
