"""A file that is something else by now, a name that no key can have: nobody is kept from going on by either."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.hooked import Agent, House, git, house
from tests.own_tools import commits

from commonhold.agents.hook_events import Caller, Stance, Swap
from commonhold.agents.runtime.shells import Shells
from commonhold.kernel.errors import InputError
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.sandbox.probing import NONE

pytestmark = pytest.mark.slow

SOURCE = "def f():\n    return 1\n"
TEN = Swap("a.py", "return 1", "return 10")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as made:
        made.write("a.py", SOURCE)
        git(made.root, "add", "-A")
        git(made.root, "commit", "-q", "-m", "all")
        yield made


@pytest.fixture
def one(home: House) -> Agent:
    return Agent(home, Caller("claude", "one"))


def bind(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.parent)  # its name by itself is short enough for a socket
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(place.name)


Become = Callable[[Path, pytest.MonkeyPatch], object]
KINDS: dict[str, Become] = {
    "a folder": lambda place, _: place.mkdir(),
    "a pipe": lambda place, _: os.mkfifo(place),
    "a socket": bind,
    "a link": lambda place, _: place.symlink_to("b.py"),
    "a link to itself": lambda place, _: place.symlink_to("a.py"),
    "a link out of the tree": lambda place, _: place.symlink_to("/dev/null"),
}


@pytest.mark.parametrize("become", KINDS.values(), ids=KINDS)
def test_what_was_to_be_written_and_is_no_file_any_more_is_in_nobodys_way(
    home: House, one: Agent, become: Become, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write("b.py", SOURCE)
    one.reads("a.py")
    assert one.wants(TEN).stance is Stance.PASS
    home.root.joinpath("a.py").unlink()
    become(home.root / "a.py", monkeypatch)
    with home.service(None) as service:
        service.record_external_changes(["a.py"])
        service.record_external_changes(None)
        with suppress(InputError):  # there is nothing to be proposed for it
            one.wants(TEN, call="again")
        one.has_written(TEN)
        one.rests()
        assert service.leases() == ()
        home.write("b.py", "b = 1\n")
        one.reads("b.py")
        home.write("b.py", "b = 2\n")
        assert service.record_external_changes(None).outcome == "recorded", "others are noticed as ever"


@pytest.mark.parametrize("become", KINDS.values(), ids=KINDS)
def test_a_file_in_whose_place_is_something_else_is_gone_until_it_is_back(
    home: House, one: Agent, become: Become, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write("b.py", "b = 1\n")
    one.reads("a.py")
    place = home.root / "a.py"
    place.unlink()
    become(place, monkeypatch)
    with home.service(None) as service:
        assert service.record_external_changes(None).outcome == "recorded"
        assert service.record_external_changes(None).outcome == "nothing", "once"
        assert "a.py" in one.is_asked("what is new?").context
        place.rmdir() if place.is_dir() and not place.is_symlink() else place.unlink()
        home.write("a.py", SOURCE)
        assert service.record_external_changes(None).outcome == "recorded"
        steps = [(each.path, each.before is None, each.after is None) for it in commits(service) for each in it.files]
        assert steps == [("a.py", False, True), ("a.py", True, False)]


def folder_becomes_a_repository(folder: Path) -> None:
    git(folder, "init", "-q")
    folder.joinpath("a.py").write_text("", encoding="utf-8")


def folder_becomes_a_link(folder: Path) -> None:
    folder.rename(folder.parent.parent / "gone")
    folder.symlink_to("../gone")
    folder.joinpath("a.py").write_text("", encoding="utf-8")


@pytest.mark.parametrize("become", [folder_becomes_a_repository, folder_becomes_a_link], ids=lambda each: each.__name__)
def test_a_folder_that_leads_elsewhere_now_is_in_nobodys_way(
    home: House, one: Agent, become: Callable[[Path], None]
) -> None:
    home.write("in/a.py", SOURCE)
    wish = Swap("in/a.py", "return 1", "return 10")
    one.reads("in/a.py")
    assert one.wants(wish).stance is Stance.PASS
    become(home.root / "in")
    one.rests()
    with home.service(None) as service:
        assert service.leases() == ()
        service.record_external_changes(None)
        assert commits(service) == []


def test_what_may_not_be_read_is_in_nobodys_way(home: House, one: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write("b.py", "b = 1\n")
    one.reads("a.py", "b.py")
    home.write("b.py", "b = 2\n")
    load = WorkingTree._load_at

    def shut(tree: WorkingTree, path: str, folder: int, name: str) -> object:
        if path == "a.py":
            raise PermissionError(13, "no", path)
        return load(tree, path, folder, name)

    monkeypatch.setattr(WorkingTree, "_load_at", shut)
    with home.service(None) as service:
        answer = service.record_external_changes(None)
        assert (answer.outcome, answer.unknown) == ("recorded", ("a.py",))


@pytest.mark.parametrize("name", ["two\nlines.py", "\x1b[0m.py", "caf\udce9.py"])
def test_a_name_that_no_key_can_have_does_not_hide_what_else_a_command_wrote(home: House, name: str) -> None:
    shells = Shells(home.session, offer=lambda: NONE)
    ticket = shells.watch({"holder": "codex:one", "cwd": str(home.root), "command": ["make"]})["ticket"]
    home.root.joinpath(name).write_text("x = 1\n", encoding="utf-8")
    home.write("a.py", "a = 2\n")
    assert shells.end({"ticket": ticket, "status": 0}) == {"report": ""}
    with home.service(None) as service:
        assert [each.holder for each in commits(service)] == ["codex:one"]
