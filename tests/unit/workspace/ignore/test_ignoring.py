"""Which paths are nobody's concern: as git says, and as the project says."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.e2e.cli_driver import git
from tests.effort import examples

from commonhold.config import load_settings
from commonhold.workspace.git.process import Git
from commonhold.workspace.ignore import IgnoredPaths, Ignoring, wildcards
from commonhold.workspace.ignore.rules import MOST_BYTES
from commonhold.workspace.survey.listed import listed

pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    made = tmp_path / "work"
    made.mkdir()
    git(made, "init", "--quiet")
    return made


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def ignored(root: Path, *patterns: str) -> IgnoredPaths:
    return IgnoredPaths(str(root), Git(str(root)), patterns)


def test_what_git_ignores_is_ignored_unless_it_is_tracked(root: Path) -> None:
    write(root, ".gitignore", "build/\n*.log\n")
    write(root, "build/kept.py", "x = 1\n")
    paths = ignored(root)
    assert [paths.is_ignored(each) for each in ("build/kept.py", "a/b.log", "a.py", "build")] == [
        True,
        True,
        False,
        False,
    ]
    git(root, "add", "--force", "build/kept.py")
    told = [paths.is_ignored(each) for each in ("build/kept.py", "build/", "build/other.py", "a.log/")]
    assert told == [False, False, True, True]


def test_folders_that_tools_fill_are_ignored_unless_something_in_them_is_tracked(root: Path) -> None:
    """An environment, or packages, of which git has not been told: a command that makes them writes thousands."""
    write(root, ".venv/lib/a.py", "x = 1\n")
    write(root, "web/node_modules/left/index.js", "1\n")
    write(root, "node_modules/kept.js", "1\n")
    write(root, "src/venv.py", "x = 1\n")
    git(root, "add", "node_modules/kept.js")
    (paths, asked) = ignored(root), (".venv/lib/a.py", "web/node_modules/", "node_modules/kept.js", "src/venv.py")
    assert [paths.is_ignored(each) for each in asked] == [True, True, False, False]
    found = listed(str(root), Git(str(root)), ())
    assert {*found.clean, *found.loose} == {"node_modules/kept.js", "src/venv.py"}


def test_a_project_can_make_a_concern_of_what_tools_fill(root: Path) -> None:
    write(root, ".commonholdignore", "!node_modules/\n")
    write(root, "node_modules/a.js", "1\n")
    assert not ignored(root).is_ignored("node_modules/a.js")
    assert listed(str(root), Git(str(root)), ()).loose == {".commonholdignore", "node_modules/a.js"}
    assert not IgnoredPaths(str(root), None).is_ignored("node_modules/a.js")


def test_where_there_is_no_git_folders_that_tools_fill_are_ignored(tmp_path: Path) -> None:
    paths = IgnoredPaths(str(tmp_path), None)
    assert [paths.is_ignored(each) for each in ("a/__pycache__/b.pyc", "a/b.py")] == [True, False]


def test_the_project_decides_before_git_and_the_file_before_the_settings(root: Path) -> None:
    write(root, ".gitignore", "dist/\n")
    write(root, ".commonholdignore", "gen/\n!dist/\n!notes.md\n")
    paths = ignored(root, "*.md", "vendor/**", "gen/keep.py")
    told = {each: paths.is_ignored(each) for each in ("gen/a.py", "dist/a.py", "notes.md", "other.md", "vendor/x/y.py")}
    assert told == {"gen/a.py": True, "dist/a.py": False, "notes.md": False, "other.md": True, "vendor/x/y.py": True}


def test_rules_are_read_anew_when_they_change(root: Path) -> None:
    paths = ignored(root)
    for number, text in enumerate(("a.py\n", "b.py\n", "c.py\n", "")):
        write(root, ".commonholdignore", text)
        assert [paths.is_ignored(f"{name}.py") for name in "abc"] == [number == 0, number == 1, number == 2]
    (root / ".commonholdignore").unlink()
    write(root, "deep/.gitignore", "a.py\n")
    assert (paths.is_ignored("deep/a.py"), paths.is_ignored("a.py")) == (True, False)


def test_what_the_user_ignores_everywhere_and_here_is_ignored(root: Path, tmp_path: Path) -> None:
    write(tmp_path, "home/.config/git/ignore", "*.swp\n")
    write(root, ".git/info/exclude", "mine/\n")
    paths = ignored(root)
    assert [paths.is_ignored(each) for each in ("a.swp", "mine/a.py", "a.py")] == [True, True, False]


def test_our_own_folders_are_never_a_concern_and_a_broken_pattern_is_passed_over(root: Path) -> None:
    write(root, ".commonholdignore", "!\nlast.py\n\\\n")
    paths = ignored(root)
    assert [paths.is_ignored(each) for each in (".git/index", ".commonhold/state.db", "last.py")] == [True, True, True]
    assert not paths.is_ignored("a.git/x")


def test_without_git_only_the_project_decides(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", "*.log\n")
    write(tmp_path, ".commonholdignore", "*.tmp\n")
    paths = IgnoredPaths(str(tmp_path), None)
    assert (paths.is_ignored("a.log"), paths.is_ignored("a.tmp")) == (False, True)


def test_the_settings_are_read_anew_when_they_change(root: Path) -> None:
    ignoring = Ignoring(lambda folder: load_settings(folder).ignore)
    assert not ignoring.is_ignored(str(root), "a.py")
    write(root, "commonhold.toml", 'ignore = ["a.py"]\n')
    assert ignoring.is_ignored(str(root), "a.py")
    write(root, "commonhold.toml", 'ignore = ["bb.py"]\n')
    assert [ignoring.is_ignored(str(root), each) for each in ("a.py", "bb.py")] == [False, True]
    write(root, "commonhold.toml", "ignore = [")
    assert not ignoring.is_ignored(str(root), "bb.py")


def test_what_looks_the_same_on_the_disk_is_read_all_the_same(root: Path, tmp_path: Path) -> None:
    ignoring = Ignoring(lambda folder: load_settings(folder).ignore)
    elsewhere = tmp_path / "settings.toml"
    (root / "commonhold.toml").symlink_to(elsewhere)
    for name in "abcdefgh" * 4:
        elsewhere.write_text(f'ignore = ["{name}.py"]\n', encoding="utf-8")
        assert [each for each in "abcdefgh" if ignoring.is_ignored(str(root), f"{each}.py")] == [name]


NAMES = st.sampled_from(["a", "b", "ab", "a.x", "b.x"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
PATTERNS = st.lists(
    st.one_of(
        PATHS,
        PATHS.map("{}/".format),
        PATHS.map("/{}".format),
        PATHS.map("!{}".format),
        st.sampled_from(["*.x", "!*.x", "a/**", "**/b", "a*", "?", "!a/", "[ab]", "# a", "", "*", "!*/", "a/*/b"]),
    ),
    max_size=5,
)


@pytest.fixture(scope="module")
def tree() -> Iterator[tuple[Path, IgnoredPaths]]:
    with tempfile.TemporaryDirectory() as folder:
        git(Path(folder), "init", "--quiet")
        yield Path(folder), ignored(Path(folder))


@examples(0.5)
@given(rules=st.fixed_dictionaries({"": PATTERNS, "a/": PATTERNS, "a/b/": PATTERNS}), paths=st.lists(PATHS, min_size=1))
def test_it_says_what_git_says(tree: tuple[Path, IgnoredPaths], rules: dict[str, list[str]], paths: list[str]) -> None:
    folder, found = tree
    for place, lines in rules.items():
        write(folder, f"{place}.gitignore", "\n".join(lines))
    files = [each for each in paths if each not in ("a", "a/b")]  # those are folders here
    assert {each for each in files if found.is_ignored(each)} == _by_git(folder, files)


def _by_git(folder: Path, paths: list[str]) -> set[str]:
    command = ["git", "check-ignore", "-z", "--stdin", "--no-index"]
    asked = b"".join(os.fsencode(each) + b"\0" for each in paths)
    told = subprocess.run(command, cwd=folder, input=asked, capture_output=True, check=False).stdout
    return set(filter(None, os.fsdecode(told).split("\0")))


PLAIN = [
    "a",
    "b",
    "A",
    "é",
    ".x",
    "-",
    "!",
    "#",
    " ",
    "\t",
    "/",
    "*",
    "**",
    "**/",
    "/**",
    "?",
    "[",
    "]",
    "\\",
    "a*",
    "*a",
]
SETS = ["[ab]", "[!a]", "[^b]", "[a-b]", "[]a]", "[!]a]", "[a-]", "[\\]]", "[--a]", "[[:alpha:]]", "[[:bad:]]", "[[:x]"]
PIECES = st.sampled_from([*PLAIN, *SETS, "\\*", "\\#", "\\!", "\\ ", "a/b", "[/]", "[!-~]"])
LINES = st.lists(st.lists(PIECES, min_size=1, max_size=7).map("".join), max_size=4)
ODD_NAMES = st.sampled_from(
    ["a", "b", "A", "ab", "aab", "a.x", "é", "a b", "a ", "#", "!a", "[", "*", "]", "-", "\\", "a\t"]
)
ODD_PATHS = st.lists(ODD_NAMES, min_size=1, max_size=4).map("/".join)


@examples(1.5)
@example(rules={".gitignore": ["a**/b"], "a/.gitignore": [], ".git/info/exclude": []}, paths=["a/a/b", "ab", "a/b"])
@given(
    rules=st.fixed_dictionaries({".gitignore": LINES, "a/.gitignore": LINES, ".git/info/exclude": LINES}),
    paths=st.lists(ODD_PATHS, min_size=1, max_size=25),
)
def test_it_reads_patterns_as_git_does(
    tree: tuple[Path, IgnoredPaths], rules: dict[str, list[str]], paths: list[str]
) -> None:
    folder, found = tree
    (folder / "a/b/.gitignore").unlink(missing_ok=True)
    for place, lines in rules.items():
        write(folder, place, "\r\n".join(lines))
    files = [each for each in paths if each not in ("a", "a/b")]  # those are folders here
    assert {each for each in files if found.is_ignored(each)} == _by_git(folder, files)


FILES = [f"{folder}{name}" for folder in ("", "a/", "a/b/", "b/", "ab/a/") for name in ("x", "a.x", "b.x", "ab.y")]
TRACKED = ("a/a.x", "b/x", "ab/a/b.x")


@pytest.fixture(scope="module")
def full() -> Iterator[Path]:
    """A working tree with files in it, of which git tracks some."""
    with tempfile.TemporaryDirectory() as folder:
        git(Path(folder), "init", "--quiet")
        for each in FILES:
            write(Path(folder), each, "")
        git(Path(folder), "add", *TRACKED)
        yield Path(folder)


RULE_FILES = (".commonholdignore", ".gitignore", "a/.gitignore", ".git/info/exclude")
NO_RULES: dict[str, list[str]] = {name: [] for name in RULE_FILES}


@examples(0.6)
@example(rules=NO_RULES | {".commonholdignore": ["!a.x"]}, chosen=["*.x"])
@example(rules=NO_RULES | {".commonholdignore": ["!b/"], ".gitignore": ["b/", "*.y"]}, chosen=[])
@given(
    rules=st.fixed_dictionaries(dict.fromkeys(NO_RULES, PATTERNS)),
    chosen=PATTERNS,
)
def test_a_survey_leaves_out_what_hooks_leave_alone(full: Path, rules: dict[str, list[str]], chosen: list[str]) -> None:
    """A survey lets git read the rules: that is faster where there are many files."""
    for place, lines in rules.items():
        write(full, place, "\n".join(lines))
    found = listed(str(full), Git(str(full)), chosen)
    paths = ignored(full, *chosen)
    assert {*found.clean, *found.loose} & {*FILES} == {each for each in FILES if not paths.is_ignored(each)}


def test_without_git_a_survey_heeds_the_project_too(tmp_path: Path) -> None:
    write(tmp_path, ".commonholdignore", "*.tmp\n!kept.tmp\ngen/\n")
    for path in ("a.tmp", "kept.tmp", "gen/a.py", "a.py", "b.md"):
        write(tmp_path, path, "")
    assert listed(str(tmp_path), None, ["*.md"]).loose == {"kept.tmp", "a.py"}


@given(
    pattern=st.lists(PIECES, min_size=1, max_size=7).map("".join),
    paths=st.lists(st.text("ab/.x", max_size=12), max_size=9),
)
def test_following_all_ways_finds_what_trying_them_finds(pattern: str, paths: list[str]) -> None:
    try:
        parts = tuple(wildcards._parts(os.fsencode(pattern)))
    except wildcards._NeverMatches:
        assert wildcards.matcher(os.fsencode(pattern)) is None
        return
    tried, followed = wildcards.tried(parts), wildcards.followed(parts)
    assert [tried(each.encode()) for each in paths] == [followed(each.encode()) for each in paths]


@pytest.mark.parametrize("pattern", ["a*" * 60 + "b", "**/a/" * 40 + "b", "*a" * 60 + "[b]", "**/*a*/" * 20 + "?b"])
def test_no_pattern_keeps_anybody_waiting(root: Path, pattern: str) -> None:
    """Tried one after the other, the ways to match would outlast whoever waits."""
    write(root, ".gitignore", f"{pattern}\nlast\n")
    paths = ignored(root)
    assert not paths.is_ignored("a" * 200)
    assert not paths.is_ignored("a/" * 100 + "a")
    assert paths.is_ignored("last")


def test_case_counts_where_it_counts_for_git(root: Path) -> None:
    write(root, ".gitignore", "Build/\n[A-C].x\n")
    told = ("build/a.py", "b.X", "B.x", "Build/a.py")
    assert [ignored(root).is_ignored(each) for each in told] == [False, False, True, True]
    git(root, "config", "core.ignoreCase", "true")
    assert [ignored(root).is_ignored(each) for each in told] == [True] * 4
    assert _by_git(root, list(told)) == set(told)


@pytest.mark.parametrize("name", [".commonholdignore", ".gitignore", ".git/info/exclude"])
def test_what_is_no_list_of_patterns_keeps_nobody_waiting(root: Path, name: str) -> None:
    """All agents' hooks would wait with whoever waits here."""
    place = root / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    assert not ignored(root).is_ignored("a.py"), "nobody writes into the pipe"
    place.unlink()
    place.symlink_to("/dev/zero")
    assert not ignored(root).is_ignored("a.py"), "it has no end"
    place.unlink()
    place.write_bytes(b"a.py\n" + b"#" * MOST_BYTES)
    assert not ignored(root).is_ignored("a.py")
