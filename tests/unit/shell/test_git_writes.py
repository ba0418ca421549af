"""What a call of git writes in the working tree, told from its words."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.shell.git_words import read_call
from commonhold.shell.git_writes import KNOWN, Written, written_by

NOTHING, ANYWHERE, CHANGED = Written(), Written(anywhere=True), Written(changed=True)
REVISIONS = {"main", "HEAD", "HEAD~", "-"}
CALLS = {
    "status": NOTHING,
    "add a": NOTHING,
    "commit -m x": NOTHING,
    "merge --help": NOTHING,
    "merge --no-ff -m x side": Written(compared=("HEAD...side",)),
    "merge -S --cleanup strip side": Written(compared=("HEAD...side",)),
    "merge --continue": ANYWHERE,
    "rebase -i HEAD~": Written(compared=("HEAD..HEAD~",)),
    "rebase --empty drop -S main": Written(compared=("HEAD..main",)),
    "rebase --onto main side": ANYWHERE,
    "cherry-pick -x side other": Written(compared=("side~..side", "other~..other")),
    "cherry-pick -s -m 1 -Skey side": Written(compared=("side~..side",)),
    "cherry-pick main..side": ANYWHERE,
    "revert HEAD": Written(compared=("HEAD~..HEAD",)),
    "revert --abort": ANYWHERE,
    "am x.patch": Written(patched=("--", "x.patch")),
    "am --3way -p2 --directory lib a b": Written(patched=("-p2", "--directory", "lib", "--", "a", "b")),
    "am --continue": ANYWHERE,
    "am": ANYWHERE,
    "rebase --edit-todo": NOTHING,
    "pull": ANYWHERE,
    "switch main": Written(compared=("HEAD..main",)),
    "switch -": Written(compared=("HEAD..@{-1}",)),
    "switch -c new": NOTHING,
    "checkout main": Written(compared=("HEAD..main",)),
    "checkout -b new": NOTHING,
    "checkout a.txt": Written(("a.txt",)),
    "checkout main -- a b": Written(("a", "b")),
    "checkout -f": Written(changed=True, anywhere=True),
    "restore a": Written(("a",)),
    "restore --staged a": NOTHING,
    "reset --hard": CHANGED,
    "reset --hard HEAD": Written(changed=True, compared=("HEAD..HEAD",)),
    "reset --hard HEAD~": Written(changed=True, compared=("HEAD..HEAD~",)),
    "reset --keep HEAD~": ANYWHERE,
    "reset a": NOTHING,
    "stash": CHANGED,
    "stash push -m x -- a": Written(("a",)),
    "stash -u": ANYWHERE,
    "stash pop": Written(compared=("stash@{0}^..stash@{0}",)),
    "stash apply stash@{2}": Written(compared=("stash@{2}^..stash@{2}",)),
    "stash branch x": ANYWHERE,
    "stash list": NOTHING,
    "clean -fd": ANYWHERE,
    "clean -f build": Written(("build",)),
    "clean -n": NOTHING,
    "mv a b": Written(("a", "b")),
    "rm -r a": Written(("a",)),
    "rm --cached a": NOTHING,
    "apply x.patch": Written(patched=("--", "x.patch")),
    "apply -R --index -p 2 --exclude=lib x.patch": Written(patched=("-R", "-p", "2", "--exclude=lib", "--", "x.patch")),
    "apply -": ANYWHERE,
    "apply --cached x.patch": NOTHING,
    "apply --stat --apply x.patch": Written(patched=("--", "x.patch")),
    "worktree add -b new ../new main": NOTHING,
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
    assert set(written.paths) <= set(words)
