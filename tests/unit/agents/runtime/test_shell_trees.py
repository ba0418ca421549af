"""Which other working trees a shell command goes to."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hooked import House, git, house

from commonhold.agents.runtime.shell_trees import as_checked_out, is_made_since, trees_visited


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as made:
        made.write("a.py", "a = 1\n")
        made.write("src/b.py", "b = 1\n")
        git(made.root, "add", "-A")
        git(made.root, "commit", "-q", "-m", "all")
        git(made.root, "worktree", "add", "-q", "../tree")
        git(made.root, "init", "-q", "../foreign")
        yield made


@pytest.mark.parametrize(
    ("line", "is_visited"),
    [
        ("cd ../tree && make", True),
        ("echo x; cd ../tree/src; make", True),
        ("(cd ../tree && make); make", True),
        ("git -C ../tree add -A", True),
        ("cd src && git -C ../../tree commit -qm x", True),
        ("cd src && make", False),
        ("cd ../foreign && make", False),
        ("cd ../nowhere && make", False),
        ('cd "$tree" && make', False),
        ("make", False),
    ],
)
def test_what_is_visited(home: House, line: str, *, is_visited: bool) -> None:
    found = trees_visited(("bash", "-c", line), str(home.root), str(home.root))
    assert found == ((str(home.folder / "tree"),) if is_visited else ())


def test_a_tree_is_new_to_who_began_before_it(home: House) -> None:
    tree = str(home.folder / "tree")
    assert is_made_since(tree, 0)
    assert not is_made_since(tree, time.time_ns() + 10**9)
    assert not is_made_since(str(home.folder / "nowhere"), 0)


def test_a_tree_as_it_was_made(home: House) -> None:
    survey = as_checked_out(str(home.folder / "tree"))
    assert (set(survey.clean), survey.loose) == ({"a.py", "src/b.py"}, {})
