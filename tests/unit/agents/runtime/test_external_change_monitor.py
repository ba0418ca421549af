"""Overseeing on real trees: they come and go, and what others change in those that are there is told."""

import shutil
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from tests.hooked import git
from tests.patience import until

from commonhold.agents.runtime.external_change_monitor import ExternalChangeMonitor
from commonhold.client.session import Commonhold
from commonhold.kernel.errors import Code, StoreError

pytestmark = pytest.mark.slow


class Nobody:
    """What is told through a session of nobody, in the tree at `root`."""

    is_busy = False

    def __init__(self, root: str) -> None:
        self.root = root
        self.noticed: list[str] = []
        self.is_open = True
        self.looks = 0

    def record_external_changes(self, paths: Iterable[str] | None, *, intent: str) -> None:
        assert intent
        self.looks += paths is None
        if self.is_busy:
            raise StoreError(Code.STORE_BUSY, "busy", hint="later")
        self.noticed += paths or ()

    def close(self) -> None:
        self.is_open = False


@pytest.fixture
def opened() -> list[Nobody]:
    return []


class Commands:
    """Commands that run, and could be writing one path; `asked` is how often that was asked for."""

    could_write = ""
    asked = 0

    def may_write(self, _root: str, path: str) -> bool:
        is_theirs = path == self.could_write
        self.asked += is_theirs
        return is_theirs


@pytest.fixture
def of_commands() -> Commands:
    return Commands()


@pytest.fixture
def overseeing(opened: list[Nobody], of_commands: Commands) -> Iterator[ExternalChangeMonitor]:
    def open_session(root: str) -> Commonhold:
        opened.append(Nobody(root))
        return cast("Commonhold", opened[-1])

    made = ExternalChangeMonitor(open_session, lambda *_: False, of_commands.may_write)
    yield made
    made.close()
    assert not any(each.is_open for each in opened)


def tree(place: Path) -> str:
    place.mkdir()
    git(place, "init", "--quiet")
    (place / "a.py").write_text("a = 1\n", encoding="utf-8")
    return str(place)


@pytest.mark.parametrize("by", ["somebody who begins", "a look"])
def test_a_tree_that_is_made_where_one_was_taken_away_is_overseen(
    tmp_path: Path, overseeing: ExternalChangeMonitor, opened: list[Nobody], by: str
) -> None:
    root, other = tree(tmp_path / "one"), tree(tmp_path / "two")
    look_again = overseeing.look if by == "a look" else partial(overseeing.begin, other)
    assert [overseeing.begin(root), overseeing.begin(root)] == [True, False]
    assert len(opened) == 1, "a tree that is overseen is not begun again"
    overseeing.begin(other)
    shutil.rmtree(root)

    def is_let_go() -> bool:
        look_again()
        return not opened[0].is_open

    until(is_let_go)
    assert tree(tmp_path / "one") == root
    overseeing.begin(root)
    assert [each.root for each in opened if each.is_open] == [other, root]

    def is_told() -> bool:
        (tmp_path / "one" / "a.py").write_text(f"a = {time.monotonic()}\n", encoding="utf-8")
        return "a.py" in opened[-1].noticed

    until(is_told)


def test_what_a_command_could_have_written_is_looked_at_once_that_has_ended(
    tmp_path: Path, overseeing: ExternalChangeMonitor, opened: list[Nobody], of_commands: Commands
) -> None:
    """A person has saved it just before the command began: its end finds nothing that differs."""
    overseeing.begin(tree(tmp_path / "one"))

    def is_told(name: str) -> bool:
        (tmp_path / "one" / name).write_text(f"a = {time.monotonic()}\n", encoding="utf-8")
        return name in opened[0].noticed

    until(lambda: is_told("b.py"))
    of_commands.could_write = "a.py"
    (tmp_path / "one" / "a.py").write_text("a = 2\n", encoding="utf-8")
    until(lambda: of_commands.asked)
    until(lambda: is_told("c.py"))
    assert "a.py" not in opened[0].noticed
    of_commands.could_write = ""
    until(lambda: is_told("d.py"))
    assert "a.py" in opened[0].noticed


def test_where_the_first_look_fails_the_next_that_comes_looks_again(
    tmp_path: Path, overseeing: ExternalChangeMonitor, opened: list[Nobody], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path / "one")
    with monkeypatch.context() as patch:
        patch.setattr(Nobody, "is_busy", True)
        with pytest.raises(StoreError):
            overseeing.begin(root)
    overseeing.begin(root)
    overseeing.begin(root)
    assert [(each.is_open, each.looks) for each in opened] == [(False, 1), (True, 1)]
