"""Shell commands that outlive the daemon that heard of their beginning: the next one credits what they write."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hooked import House, git, house
from tests.own_tools import commits

from commonhold.agents.runtime.command_records import CommandRecords
from commonhold.agents.runtime.shells import Shells
from commonhold.agents.runtime.under_way import UnderWay
from commonhold.code.regions.region import hash_bytes
from commonhold.workspace.sandbox.probing import NONE

pytestmark = pytest.mark.slow

ONE, TWO = "codex:one", "codex:two"
GONE = 2**30


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as made:
        for name in ("a.py", "b.py", "old.py"):
            made.write(name, f"{name[0]} = 1\n")
        git(made.root, "add", "-A")
        git(made.root, "commit", "-q", "-m", "all")
        yield made


class Daemon:
    """The shells of one daemon, which may be killed at any moment."""

    def __init__(self, home: House) -> None:
        self.home = home
        self.under_way: UnderWay = set()
        home.repository.state.make()
        records = CommandRecords(home.repository.state_folder)
        self.shells = Shells(home.session, offer=lambda: NONE, under_way=self.under_way, records=records)

    def begin(self, holder: str, *command: str, process: int = 0, call: str = "") -> str:
        told = {"holder": holder, "cwd": str(self.home.root), "command": list(command or ("make",))}
        how = {"process": process or os.getpid(), "reported_as": call}
        return str(self.shells.watch({**told, **how})["ticket"])

    def end(self, ticket: str, **more: int) -> str:
        return str(self.shells.end({"ticket": ticket, "status": 0, **more})["report"])


def credited(home: House) -> list[tuple[str, list[str]]]:
    """The changes in the log, by their holders."""
    with home.service(None) as service:
        return [(each.holder, sorted(file.path for file in each.files)) for each in commits(service)]


def records_in(home: House) -> list[str]:
    folder = Path(home.repository.state_folder, "commands")
    return sorted(each.name for each in folder.iterdir()) if folder.exists() else []


def test_the_next_daemon_credits_all_that_a_command_wrote(home: House) -> None:
    ticket = Daemon(home).begin(ONE)
    home.write("a.py", "a = 2\n")
    after = Daemon(home)
    home.write("new/c.py", "c = 1\n")
    (home.root / "old.py").unlink()
    assert after.end(ticket) == ""
    assert credited(home) == [(ONE, ["a.py", "new/c.py", "old.py"])]
    assert after.under_way == set()


def test_what_was_changed_before_the_command_is_not_credited_to_it(home: House) -> None:
    home.write("b.py", "b = 2\n")
    home.write("untracked.py", "u = 1\n")
    ticket = Daemon(home).begin(ONE)
    home.write("a.py", "a = 2\n")
    assert Daemon(home).end(ticket) == ""
    assert credited(home) == [(ONE, ["a.py"])]


def test_what_was_changed_after_its_end_is_not_credited_to_a_command_that_reports_late(home: House) -> None:
    ticket = Daemon(home).begin(ONE)
    home.write("a.py", "a = 2\n")
    ended_ns = time.time_ns()
    time.sleep(0.1)  # the file system's clock ticks on
    home.write("b.py", "b = 2\n")
    assert Daemon(home).end(ticket, ended_ns=ended_ns) == ""
    assert credited(home) == [(ONE, ["a.py"])]


def test_what_another_has_committed_meanwhile_stays_its_own(home: House) -> None:
    ticket = Daemon(home).begin(ONE)
    with home.service(TWO) as other:
        was = hash_bytes(b"b = 1\n")
        other.read("file:b.py")
        home.write("b.py", "b = 2\n")
        other.record_external_writes({"b.py": was})
    home.write("a.py", "a = 2\n")
    assert Daemon(home).end(ticket) == ""
    assert credited(home) == [(TWO, ["b.py"]), (ONE, ["a.py"])]


def test_two_commands_of_one_dead_daemon_are_weighed_against_each_other(home: House) -> None:
    before = Daemon(home)
    first, ticket = before.begin(TWO), before.begin(ONE, "ruff", "format", "a.py")
    home.write("a.py", "a = 2\n")
    home.write("b.py", "b = 2\n")
    after = Daemon(home)
    assert (after.end(ticket), after.end(first)) == ("", "")
    assert credited(home) == [(ONE, ["a.py"]), (TWO, ["b.py"])]


def test_a_command_whose_launcher_is_gone_too_may_have_ended_long_ago(home: House) -> None:
    Daemon(home).begin(ONE, process=GONE)
    home.write("a.py", "a = 2\n")
    after = Daemon(home)
    after.shells.reap()
    assert {holder for holder, _ in credited(home)} <= {"outside"}
    assert (after.under_way, records_in(home)) == (set(), [])


def test_what_the_next_daemon_is_to_notice_is_credited_first(home: House) -> None:
    """When an agent comes to a tree, the daemon looks there, and records what is new without a session."""
    ticket = Daemon(home).begin(ONE)
    with home.service(ONE) as reader:
        reader.read("file:a.py")
    home.write("a.py", "a = 2\n")
    after = Daemon(home)
    after.shells.settle_restored(str(home.root))
    with home.service(None) as service:
        service.record_external_changes(None)
    home.write("b.py", "b = 2\n")
    assert after.end(ticket) == ""
    assert credited(home) == [(ONE, ["a.py"]), (ONE, ["b.py"])]


def test_a_call_that_only_hooks_report_is_known_by_its_name(home: House) -> None:
    ticket = Daemon(home).begin(ONE, call="call-1")
    after = Daemon(home)
    assert after.shells.calls_restored() == {(ONE, "call-1"): ticket}
    home.write("a.py", "a = 2\n")
    assert after.shells.ended(ticket) == ""
    assert credited(home) == [(ONE, ["a.py"])]
    assert after.shells.calls_restored() == {}


def test_a_launcher_that_was_not_answered_begins_once(home: House) -> None:
    told = {"holder": ONE, "cwd": str(home.root), "command": ["make"], "process": os.getpid()}
    Daemon(home).shells.begin(told)
    after = Daemon(home)
    ticket = str(after.shells.begin(told)["ticket"])
    home.write("a.py", "a = 2\n")
    assert after.end(ticket) == ""
    assert credited(home) == [(ONE, ["a.py"])]
    assert after.under_way == set()


def test_what_a_command_holds_stays_held_by_it(home: House) -> None:
    ticket = Daemon(home).begin(ONE, "touch", "a.py")
    after = Daemon(home)
    with home.session(str(home.root), ONE) as session:
        after.shells.reap()
        after.shells.free(session)
        assert [each.acquisition_id for each in session.leases()] == [ticket]
        after.end(ticket)
        assert session.leases() == ()


def test_of_commands_that_have_ended_no_record_is_kept(home: House) -> None:
    daemon = Daemon(home)
    first, second = daemon.begin(ONE), daemon.begin(TWO)
    assert {each.rpartition(".")[2] for each in records_in(home)} == {"tree", "command"}
    daemon.end(first)
    daemon.end(second)
    assert [each.rpartition(".")[2] for each in records_in(home)] == ["tree"]  # of which the next command may be
    daemon.shells.close()
    assert records_in(home) == []


@pytest.mark.parametrize("damage", ["", "{", '{"asked": 1}', "\x00" * 100])
def test_records_that_cannot_be_read_are_removed(home: House, damage: str) -> None:
    Daemon(home).begin(ONE)
    folder = Path(home.repository.state_folder, "commands")
    for path in folder.glob("*.command"):
        path.write_text(damage, encoding="utf-8")
    after = Daemon(home)
    after.shells.reap()
    assert (after.under_way, records_in(home)) == (set(), [])


def test_a_command_in_a_tree_that_is_gone_is_forgotten(home: House) -> None:
    git(home.root, "worktree", "add", "-q", "../tree")
    told = {"holder": ONE, "cwd": str(home.folder / "tree"), "command": ["make"], "process": os.getpid()}
    Daemon(home).shells.watch(told)
    git(home.root, "worktree", "remove", "--force", "../tree")
    after = Daemon(home)
    after.shells.reap()
    assert (after.under_way, records_in(home)) == (set(), [])


def test_a_command_with_words_that_are_no_text_runs_without_a_record(home: House) -> None:
    daemon = Daemon(home)
    ticket = daemon.begin(ONE, "make", "\ud800")
    home.write("a.py", "a = 2\n")
    assert daemon.end(ticket) == ""
    assert credited(home) == [(ONE, ["a.py"])]


def test_a_restored_command_is_under_way_as_long_as_its_launcher_lives(home: House) -> None:
    Daemon(home).begin(ONE)
    after = Daemon(home)
    after.shells.reap()
    assert [is_so() for is_so in after.under_way] == [True]
