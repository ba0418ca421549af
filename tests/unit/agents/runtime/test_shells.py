"""Shell commands that run at the same time: what is kept of each, and until when."""

import gc
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from tests.hooked import House, git, house
from tests.own_tools import commits
from tests.patience import until

from commonhold.agents.runtime import shells
from commonhold.agents.runtime.shells import Shells
from commonhold.agents.runtime.under_way import UnderWay
from commonhold.client.session import Commonhold
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.purposes import HELD_FOR_TURN
from commonhold.workspace.git.process import Git
from commonhold.workspace.sandbox.probing import NONE, Offer
from commonhold.workspace.survey import Survey, Surveyor

pytestmark = pytest.mark.slow

ONE, TWO = "codex:one", "codex:two"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as made:
        made.write("a.py", "a = 1\n")
        git(made.root, "add", "-A")
        git(made.root, "commit", "-q", "-m", "all")
        yield made


class Running:
    """The shells of a house."""

    def __init__(self, home: House) -> None:
        self.home = home
        self.under_way: UnderWay = set()
        self.shells = Shells(home.session, offer=lambda: NONE, under_way=self.under_way)

    def begin(self, holder: str, *command: str) -> str:
        told = {"holder": holder, "cwd": str(self.home.root), "command": list(command or ("make",))}
        return str(self.shells.watch(told)["ticket"])

    def end(self, ticket: str) -> str:
        return str(self.shells.end({"ticket": ticket, "status": 0})["report"])


@pytest.fixture
def running(home: House) -> Running:
    return Running(home)


def test_a_command_that_somebody_else_runs_after_all_is_under_way_no_more(running: Running) -> None:
    ticket = running.begin(ONE, "touch", "new.py")
    assert [is_so() for is_so in running.under_way] == [True]
    running.shells.drop(ticket)
    assert running.under_way == set()
    with running.home.service(ONE) as service:
        assert service.leases() == ()
    assert running.end(ticket) == ""


def test_whoever_was_dropped_could_have_written_nothing(running: Running) -> None:
    dropped, ticket = running.begin(TWO), running.begin(ONE)
    running.shells.drop(dropped)
    running.home.write("a.py", "a = 2\n")
    assert running.end(ticket) == ""
    with running.home.service(None) as service:
        assert [each.holder for each in commits(service)] == [ONE]


def test_what_two_could_have_written_is_laid_on_neither(running: Running) -> None:
    first, ticket = running.begin(TWO), running.begin(ONE)
    running.home.write("a.py", "a = 2\n")
    assert "no session is credited with it: a.py" in running.end(ticket)
    assert running.end(first) == ""


def test_what_one_of_two_names_is_its_own(running: Running) -> None:
    first, ticket = running.begin(TWO), running.begin(ONE, "ruff", "format", ".")
    running.home.write("a.py", "a = 2\n")
    assert (running.end(ticket), running.end(first)) == ("", "")
    with running.home.service(None) as service:
        assert [each.holder for each in commits(service)] == [ONE]


def test_what_two_formatters_do_at_once_is_that_ones_which_ends_first(running: Running) -> None:
    tickets = [running.begin(each, "ruff", "format", ".") for each in (TWO, ONE)]
    running.home.write("a.py", "a = 2\n")
    assert [running.end(each) for each in tickets] == ["", ""]
    with running.home.service(None) as service:
        assert [each.holder for each in commits(service)] == [TWO]


def test_what_only_runs_tests_or_reads_takes_nothing_of_what_another_does(running: Running) -> None:
    tests, ticket, reading = running.begin(TWO, "pytest"), running.begin(ONE), running.begin(TWO, "tail", "-f", "a.py")
    running.home.write("a.py", "a = 2\n")
    assert [running.end(each) for each in (reading, tests, ticket)] == ["", "", ""]
    with running.home.service(None) as service:
        assert [each.holder for each in commits(service)] == [ONE]


def test_what_has_ended_or_not_begun_has_not_written(running: Running) -> None:
    first, ticket = running.begin(TWO), running.begin(ONE)
    assert running.end(first) == ""
    running.home.write("a.py", "a = 2\n")
    time.sleep(0.1)  # the file system's clock ticks on
    later = running.begin(TWO)
    assert running.end(ticket) == ""
    with running.home.service(None) as service:
        assert [each.holder for each in commits(service)] == [ONE]
    running.end(later)


def test_of_commands_that_ended_beside_one_that_goes_on_next_to_nothing_is_kept(running: Running) -> None:
    going_on = running.begin(ONE)
    running.end(running.begin(TWO))
    before = _surveys()  # that of the command, and the newest
    for _ in range(3):
        one, two = running.begin(TWO), running.begin(TWO)
        running.end(one)
        running.end(two)
    assert _surveys() == before
    running.end(going_on)
    assert _surveys() == before - 1


def test_a_command_that_takes_its_own_tree_away_ends_as_any_other(running: Running) -> None:
    git(running.home.root, "worktree", "add", "-q", "../tree")
    tree = running.home.folder / "tree"
    told = {"holder": ONE, "cwd": str(tree), "command": ["git", "worktree", "remove", "--force", "."]}
    ticket = str(running.shells.watch(told)["ticket"])
    git(running.home.root, "worktree", "remove", "--force", "../tree")
    assert running.end(ticket) == ""
    assert running.under_way == set()
    with pytest.raises(StoreError, match="there is no folder"):
        Git(str(tree)).ask("status")


def test_settings_that_are_changed_hold_for_the_next_command(running: Running) -> None:
    for most, told in ((3, "too large"), (100, ""), (4, "too large")):
        running.home.write("commonhold.toml", f"max_file_bytes = {most}\n")
        ticket = running.begin(ONE)
        running.home.write("b.py", f"b = {most}\n")
        report = running.end(ticket)
        assert told in report
        assert bool(report) is bool(told)


def test_a_process_that_has_got_the_id_of_a_launcher_that_was_killed_is_not_taken_for_it(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"holder": ONE, "cwd": str(running.home.root), "command": ["make"], "process": os.getpid()}
    running.shells.watch(told)
    monkeypatch.setattr(shells, "named", lambda pid: f"{pid}:1")  # so long ago this process has not begun
    running.shells.watch({**told, "holder": TWO})
    running.home.write("a.py", "a = 2\n")
    assert [is_so() for is_so in running.under_way].count(False) == 1
    running.shells.reap()
    assert [is_so() for is_so in running.under_way] == [True]


def test_what_could_not_be_recorded_on_a_full_disk_is_recorded_later(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as launcher:
        told = {"holder": ONE, "cwd": str(running.home.root), "command": ["make"], "process": launcher.pid}
        ticket = running.shells.begin(told)["ticket"]
        running.home.write("b.py", "b = 1\n")
        with monkeypatch.context() as full:
            full.setattr(Commonhold, "record_external_writes", _full_disk)
            with pytest.raises(StoreError, match="full"):
                running.shells.end({"ticket": ticket, "status": 0})
    running.shells.reap()
    with running.home.service(TWO) as service:
        assert [(each.holder, each.files[0].path) for each in commits(service)] == [(ONE, "b.py")]
    assert running.under_way == set()


def _full_disk(*_: object, **__: object) -> None:
    raise StoreError(Code.DISK_FULL, "the disk is full", hint="free some space")


def test_of_trees_that_are_gone_nothing_is_remembered(running: Running) -> None:
    git(running.home.root, "worktree", "add", "-q", "../tree")
    tree = running.home.folder / "tree"
    told = {"holder": ONE, "cwd": str(tree), "command": ["make"]}
    running.end(str(running.shells.watch(told)["ticket"]))
    assert _surveyors(tree) == 1
    git(running.home.root, "worktree", "remove", "--force", "../tree")
    running.end(running.begin(ONE))
    assert (_surveyors(tree), _surveyors(running.home.root)) == (0, 1)


def test_what_a_daemon_that_was_killed_leased_for_a_command_is_free_when_its_session_is_over(running: Running) -> None:
    running.begin(ONE, "touch", "new.py")
    next_one = Running(running.home)
    next_one.begin(ONE, "touch", "other.py")
    next_one.begin(TWO, "touch", "theirs.py")
    with running.home.session(str(running.home.root), ONE) as session:
        session.acquire("a.py")
        next_one.shells.free(session)
        held = {str(key) for lease in session.leases() for key in lease.keys}
    assert held == {"file:other.py", "file:theirs.py", "file:a.py"}


def test_what_it_leased_is_free_with_the_next_command_of_a_session_without_hooks(running: Running) -> None:
    running.begin(ONE, "touch", "new.py")
    next_one = Running(running.home)
    ticket = next_one.begin(ONE, "touch", "other.py")
    next_one.begin(ONE, "touch", "third.py")
    with running.home.session(str(running.home.root), ONE) as session:
        assert {str(key) for lease in session.leases() for key in lease.keys} == {"file:other.py", "file:third.py"}
    next_one.end(ticket)


# `isinstance` would ask each object for its class, and those that stand for one that is gone cannot answer.


def _surveys() -> int:
    gc.collect()
    return sum(type(each) is Survey for each in gc.get_objects())


def _surveyors(root: Path) -> int:
    gc.collect()
    return sum(type(each) is Surveyor and each._root == str(root) for each in gc.get_objects())


def test_no_more_than_some_holders_are_remembered(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shells, "MOST_REMEMBERED", 2)
    for number in range(5):
        told = {"holder": f"codex:{number}", "cwd": str(running.home.root), "command": ["make"], "process": 0}
        running.end(str(running.shells.begin(told)["ticket"]))
    assert list(running.shells._freed) == ["codex:3", "codex:4"]


MOUNTS, NAMESPACES = Offer("mounts"), Offer("namespaces", has_own_users=True)
BUBBLEWRAP = Offer("bubblewrap", has_own_users=True, program="/usr/bin/bwrap")


def answered(home: House, offer: Offer, line: str, **more: object) -> Mapping[str, object]:
    """What a launcher is told to do, where another session holds b.py, and a file that is not there."""
    home.write("b.py", "b = 1\n")
    with home.service(TWO) as service:
        service.acquire("b.py", "gone.py", task="its work")
    told = {"holder": ONE, "cwd": str(home.root), "command": ["bash", "-c", line], **more}
    return Shells(home.session, offer=lambda: offer).begin(told)


@pytest.mark.parametrize("offer", [MOUNTS, NAMESPACES])
def test_what_others_hold_and_is_there_is_masked(home: House, offer: Offer) -> None:
    answer = answered(home, offer, "make fmt")
    assert (answer["masked"], answer["kept"], answer["prefix"]) == ([str(home.root / "b.py")], [], [])


def test_a_command_that_only_reads_is_kept_from_nothing_and_any_other_from_all_that_others_hold(home: House) -> None:
    for line in ("grep -r x .", "cat a.py | wc -l", "git log"):
        assert answered(home, MOUNTS, line)["masked"] == []
    for line in ("ruff format .", "sed -i s/1/2/ a.py", "echo x > new.txt", "cp a.py new.py", "npm run dev"):
        assert answered(home, MOUNTS, line)["masked"] == [str(home.root / "b.py")]


def test_a_program_that_needs_rights_of_others_gets_no_users_of_its_own(home: House) -> None:
    assert answered(home, NAMESPACES, "sudo make install")["masked"] == []
    assert answered(home, MOUNTS, "sudo make install")["masked"] == [str(home.root / "b.py")]


def test_bubblewrap_does_it_where_it_is_the_only_one_and_not_inside_of_a_sandbox(home: House) -> None:
    answer = answered(home, BUBBLEWRAP, "make fmt")
    assert answer["masked"] == []
    assert ["--ro-bind-try", str(home.root / "b.py")] == list(cast("list[str]", answer["prefix"])[4:6])
    assert answered(home, BUBBLEWRAP, "make fmt", kept=1)["prefix"] == []


def test_what_another_edits_in_its_own_working_tree_neither_bars_a_command_nor_has_it_wait(home: House) -> None:
    git(home.root, "worktree", "add", "-q", "../tree")
    with home.session(str(home.folder / "tree"), TWO) as session:
        assert session.acquire("a.py", acquisition_id=HELD_FOR_TURN).lease
    for line in ("make", "sed -i s/1/2/ a.py"):
        told = {"holder": ONE, "cwd": str(home.root), "command": ["bash", "-c", line]}
        assert Shells(home.session, offer=lambda: MOUNTS).begin(told)["masked"] == []


def test_whoever_is_alone_is_kept_from_nothing(home: House) -> None:
    with home.service(ONE) as service:
        service.acquire("a.py")
    told = {"holder": ONE, "cwd": str(home.root), "command": ["make", "fmt"]}
    answer = Shells(home.session, offer=lambda: MOUNTS).begin(told)
    assert (answer["masked"], answer["prefix"]) == ([], [])


def test_a_launcher_that_could_not_mount_says_so_and_is_not_told_of_what_kept_it(home: House) -> None:
    home.write("b.py", "b = 1\n")
    with home.service(TWO) as service:
        service.acquire("b.py", task="its work")
    shells_ = Shells(home.session, offer=lambda: MOUNTS)
    told = {"holder": ONE, "cwd": str(home.root), "command": ["make"]}
    kept, free = (str(shells_.begin(told)["ticket"]) for _ in range(2))
    assert "it could not write" in str(shells_.end({"ticket": kept, "status": 2})["report"])
    home.write("b.py", "b = 2\n")
    report = str(shells_.end({"ticket": free, "status": 2, "free": 1})["report"])
    assert "it could not write" not in report
    assert 'codex:two holds file:b.py#@header for "its work", and gets a notice that you overwrote it' in report


def test_a_command_is_told_whose_file_it_wrote_also_if_the_write_was_noticed_before_its_end(home: House) -> None:
    """The watcher takes a file that was to be read-only for one that the command cannot write."""
    home.write("b.py", "b = 1\n")
    with home.service(None) as service:
        service.record_external_changes(["b.py"])
    with home.service(TWO) as service:
        service.read("b.py")
        service.acquire("b.py", task="its work")
    shells_ = Shells(home.session, offer=lambda: MOUNTS)
    told = {"holder": ONE, "cwd": str(home.root), "command": ["make"]}
    ticket = str(shells_.begin(told)["ticket"])
    home.write("b.py", "b = 2\n")
    assert not shells_.may_write(str(home.root), "b.py")
    with home.service(None) as service:
        assert service.record_external_changes(["b.py"]).outcome == "recorded"
    report = str(shells_.end({"ticket": ticket, "status": 0, "free": 1})["report"])
    assert "codex:two holds file:b.py" in report
    assert "gets a notice that you overwrote it" in report
    with home.service(None) as service:
        assert [each.holder for each in commits(service)] == ["outside"], "it is recorded once"


def test_a_command_is_told_whose_file_it_wrote_once_its_holder_had_replaced_that(home: House) -> None:
    """The kernel takes a mount away with the file that it is on, so the new file is not read-only."""
    home.write("b.py", "b = 1\n")
    with home.service(TWO) as service:
        service.acquire("b.py", task="its work")
        (read,) = service.read("b.py")
        shells_ = Shells(home.session, offer=lambda: MOUNTS)
        told = {"holder": ONE, "cwd": str(home.root), "command": ["make"]}
        quiet, ticket = (str(shells_.begin(told)["ticket"]) for _ in range(2))
        edit = Edit(Op.REPLACE, read.key, read.hash, "b = 2\n")
        assert service.commit(Changeset((edit,), intent="its work")).outcome == "committed"
    assert shells_.end({"ticket": quiet, "status": 0})["report"] == "", "the holder wrote it"
    home.write("b.py", "b = 3\n")
    report = str(shells_.end({"ticket": ticket, "status": 0})["report"])
    assert "codex:two holds file:b.py" in report
    assert "gets a notice that you overwrote it" in report


def test_a_tree_that_was_looked_at_ahead_is_not_read_for_the_first_command(
    home: House, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    everything = Surveyor._everything

    def counted(self: Surveyor, new: list[bytes]) -> Survey:
        looks.append(self)
        return everything(self, new)

    monkeypatch.setattr(Surveyor, "_everything", counted)

    def is_ahead() -> bool:
        """Settings of git that have only just been written may be others at each look."""
        before = len(looks)
        with closing(home.session(str(home.root), TWO)) as session:
            running.shells.surveyors.look_ahead(session)
        return len(looks) == before

    until(is_ahead)
    looks.clear()
    ticket = running.begin(ONE)
    home.write("a.py", "a = 2\n")
    running.end(ticket)
    assert looks == []
    with home.service(None) as service:
        assert [each.holder for each in commits(service)] == [ONE]


def test_where_commands_are_left_alone_nothing_is_looked_at_ahead(home: House, running: Running) -> None:
    home.write("commonhold.toml", 'shell = "off"\n')
    with closing(home.session(str(home.root), TWO)) as session:
        running.shells.surveyors.look_ahead(session)
    assert running.shells.surveyors._made == {}
