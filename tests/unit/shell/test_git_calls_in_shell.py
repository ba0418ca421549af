"""The calls of git that a line of shell makes, and what each may throw away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.shell.git_calls_in_shell import ShellCall, git_calls_of
from commonhold.shell.git_risks import Commits, Files, Move, Risk, Stashes, Unknowable, Untracked, risks_of
from commonhold.shell.git_words import Valued, read_call, sort_words


@pytest.mark.parametrize(
    ("line", "calls"),
    [
        ("git reset --hard", [ShellCall(("reset", "--hard"))]),
        ("cd sub && git stash; (cd deep && git a); git b", ["stash@sub", "a@sub/deep", "b@sub"]),
        ("FOO=1 sudo -E env A=b /usr/bin/git stash", ["stash@"]),
        ("timeout 5 git stash | cat", ["stash@"]),
        ('bash -lc "cd x; git clean"', ["clean@x"]),
        ('eval "git stash"', ["stash@"]),
        ("if ! git diff; then git stash; fi", ["diff@", "stash@"]),
        ("echo $(git log)", ["log@"]),
        ("git res\\et 'x'y", [ShellCall(("reset", "xy"))]),
        ("git stash drop stash@{1}", [ShellCall(("stash", "drop", "stash@{1}"))]),
        ('git checkout -- "$f" *.py a{b,c}', [ShellCall(("checkout", "--", None, None, None))]),
        ("cd $HOME && git stash", [ShellCall(("stash",), None)]),
        ("echo git stash; printf 'git stash'; # git stash", []),
        ("cat <<'E'\ngit stash\nE", []),
        ("bash <<'E'\ncd x\ngit stash\nE", ["stash@x"]),
        ("xargs -n 1 git checkout --; find . -exec git add {} +", ["checkout@", "add@"]),
        ('bash -c "cd x && git reset $X"', [ShellCall(("reset", None), "x")]),
        ("git commit -m 'git stash' && true", [ShellCall(("commit", "-m", "git stash"))]),
        ("x=git; $x stash", []),
    ],
)
def test_calls_in_a_line(line: str, calls: list[ShellCall | str]) -> None:
    found = git_calls_of(("sh", "-c", line))
    plain = [f"{each.argv[0]}@{each.folder}" for each in found]
    assert (plain if all(isinstance(each, str) for each in calls) else list(found)) == calls


@given(st.text(alphabet="git -C'\"$(){};|&\n\\ab<>*"))
def test_any_text_has_an_answer(line: str) -> None:
    assert all(isinstance(each, ShellCall) for each in git_calls_of(("sh", "-c", line)))


@pytest.mark.parametrize(
    ("call", "risks"),
    [
        ("status", ()),
        ("reset", ()),
        ("reset HEAD -- a", ()),
        ("reset --hard", (Files(),)),
        ("reset --hard REV", (Files(), Commits("HEAD", "REV"))),
        ("-C x -c a.b=c reset --soft REV", (Commits("HEAD", "REV"),)),
        ("checkout REV", (Move("REV"),)),
        ("checkout -", (Move("-"),)),
        ("checkout -f REV", (Files(), Move("REV"))),
        ("checkout file", (Files(("file",), ""),)),
        ("checkout REV -- file", (Files(("file",), "REV"),)),
        ("checkout -b new", ()),
        ("checkout -B old REV", (Commits("old", "REV"), Move("REV"))),
        ("switch -c new", ()),
        ("switch -C old", (Commits("old", "HEAD"),)),
        ("restore --staged a", ()),
        ("restore -SW a", (Files(("a",), ""),)),
        ("stash", (Files(is_stash=True),)),
        ("stash push -u -m why -- a", (Files(("a",), is_stash=True), Untracked(("a",), is_stash=True))),
        ("stash pop", (Stashes(""),)),
        ("stash clear", (Stashes(None),)),
        ("stash show", ()),
        ("clean -n", ()),
        ("clean -fdx a", (Untracked(("a",), ignored=True),)),
        ("rm a", ()),
        ("rm -f --cached a", ()),
        ("rm -rf a", (Files(("a",)),)),
        ("merge --abort", ()),
        ("merge -m text other", (Move(),)),
        ("pull --autostash", (Files(), Move())),
        ("rebase --continue", ()),
        ("rebase --abort", (Files(),)),
        ("branch -D a b", (Commits("a"), Commits("b"))),
        ("branch -d -f a", (Commits("a"),)),
        ("checkout --pathspec-from-file list", (Files((), ""),)),
        ("checkout REV --pathspec-from-file=list", (Files((), "REV"),)),
        ("branch --sort key -f a REV", (Commits("a", "REV"),)),
        ("branch new", ()),
        ("switch --force-c a", (Commits("a", "HEAD"),)),
        ("switch --force REV", (Files(), Move("REV"))),
        ("restore --sou REV a", (Files(("a",), "REV"),)),
        ("worktree add -B a ../tree REV", (Commits("a", "REV"),)),
        ("worktree add --reason why -B a ../tree", (Commits("a", "HEAD"),)),
        ("worktree add -b a ../tree", ()),
        ("push", ()),
        ("reflog", ()),
        ("gc", ()),
        ("gc --prune=now", (Unknowable("contents that only another session's index, or no branch, refers to"),)),
        ("reset --hard --help", ()),
    ],
)
def test_what_a_call_may_throw_away(call: str, risks: tuple[Risk, ...]) -> None:
    assert risks_of(read_call(call.split()), lambda word: word in {"REV", "HEAD"}) == risks


def test_options_keep_their_values() -> None:
    words = sort_words(
        ("-am", "-a", "--author", "me", "--date=now", "path", "--", "-x"), Valued("m", frozenset({"author"}))
    )
    assert words.flags == {"-a", "-m", "--author", "--date"}
    assert words.values == {"-m": "-a", "--author": "me", "--date": "now"}
    assert (words.words, words.paths) == (("path",), ("-x",))
    assert not sort_words(("-uall",), Valued(attached="u")).has("-a")
    assert words.options == (("-am", "-a"), ("--author", "me"), ("--date=now",))
