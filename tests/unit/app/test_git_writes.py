"""What a call of git writes in the working tree, told from its words."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.app.git_words import read_call
from commonhold.app.git_writes import KNOWN, Written, written_by

NOTHING, ANYWHERE, CHANGED = Written(), Written(anywhere=True), Written(changed=True)
REVISIONS = {"main", "HEAD", "HEAD~", "-"}
CALLS = {
    "status": NOTHING,
    "add a": NOTHING,
    "commit -m x": NOTHING,
    "merge --help": NOTHING,
    "merge side": ANYWHERE,
    "merge --continue": ANYWHERE,
    "rebase -i HEAD~": ANYWHERE,
    "rebase --edit-todo": NOTHING,
    "pull": ANYWHERE,
    "switch main": ANYWHERE,
    "switch -c new": NOTHING,
    "checkout main": ANYWHERE,
    "checkout -b new": NOTHING,
    "checkout a.txt": Written(("a.txt",)),
    "checkout main -- a b": Written(("a", "b")),
    "checkout -f": Written(changed=True, anywhere=True),
    "restore a": Written(("a",)),
    "restore --staged a": NOTHING,
    "reset --hard": CHANGED,
    "reset --hard HEAD": CHANGED,
    "reset --hard HEAD~": ANYWHERE,
    "reset --keep HEAD~": ANYWHERE,
    "reset a": NOTHING,
    "stash": CHANGED,
    "stash push -m x -- a": Written(("a",)),
    "stash -u": ANYWHERE,
    "stash pop": ANYWHERE,
    "stash list": NOTHING,
    "clean -fd": ANYWHERE,
    "clean -f build": Written(("build",)),
    "clean -n": NOTHING,
    "mv a b": Written(("a", "b")),
    "rm -r a": Written(("a",)),
    "rm --cached a": NOTHING,
    "apply x.patch": ANYWHERE,
    "apply --cached x.patch": NOTHING,
    "apply --stat --apply x.patch": ANYWHERE,
    "worktree add -b new ../new main": Written(made=("../new",)),
    "worktree remove ../new": Written(("../new",)),
    "worktree list": NOTHING,
    "submodule update --init": ANYWHERE,
    "submodule status": NOTHING,
    "bisect log": NOTHING,
    "bisect start": ANYWHERE,
}


@pytest.mark.parametrize("words", CALLS)
def test_what_is_written_is_told_from_the_words(words: str) -> None:
    assert written_by(read_call(shlex.split(words)), REVISIONS.__contains__) == CALLS[words]


@given(st.lists(st.sampled_from([*sorted(KNOWN), "--", "-", "-b", "-f", "--hard", "x", ""])))
def test_any_words_are_read(words: list[str]) -> None:
    written = written_by(read_call(words), REVISIONS.__contains__)
    assert {*written.paths, *written.made} <= set(words)
