"""Isolated runs: a managed session for each task of a plan, landed by the merge queue; stopped, killed and resumed."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli_driver import Call, call, git, make_repository, process, start
from tests.e2e.daemon_process import place, serving
from tests.patience import until

import commonhold
from commonhold import Code, InputError, SessionState, Task
from commonhold.workspace.git.process import Git

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="lost processes are found in /proc"),
]
LONG = 300.0
AGENT = """
cat "$1"
while [ -e {folder}/closed ]; do sleep 0.05; done
case "$(head -1 "$1")" in
sum) echo 'def sum(a, b): return a + b' > sum.py ;;
use) echo 'from sum import sum' > use.py; echo 'THREE = sum(1, 2)' >> use.py; git add use.py; git commit -qm 'use it' ;;
left) sed -i 's/one() [*] value/one() * value + 1/' a.py ;;
right) grep -q 'was not merged' "$1" && echo x > right.txt || sed -i 's/one() [*] value/one() * value + 2/' a.py ;;
careless) grep -q 'This command failed' "$1" && echo x > careful.txt || echo 'x = (' > careless.py ;;
esac
"""
PLAN = """
goal: "sums"
tasks:
  - {id: sum, title: "sum"}
  - {id: use, title: "use", needs: [sum]}
  - {id: left, title: "left"}
  - {id: right, title: "right"}
  - {id: careless, title: "careless"}
"""
CHECK = "! ls *.py | xargs -n 1 python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' 2>&1 | grep ."


@dataclass
class Site:
    """A served repository with a plan and an agent, and the runs that are started there."""

    root: Path
    hold: commonhold.Commonhold
    call: Call
    running: subprocess.Popen[bytes] | None = None

    @property
    def gate(self) -> Path:
        """While it is there, agents wait."""
        return self.root.parent / "closed"

    def words(self, *more: str) -> tuple[str, ...]:
        agent = f"sh {self.root.parent}/agent.sh {{prompt_file}}"
        checked = ("--check", CHECK) if "--isolated" in more else ()  # one that is resumed goes on with its own
        return ("run", "start", *more, "--editor", agent, *checked, "-n", "4", "--ttl", "5", "--json")

    def begin(self, *more: str) -> subprocess.Popen[bytes]:
        self.running = start(*self.words(*more), cwd=self.root)
        return self.running

    def ended(self, running: subprocess.Popen[bytes]) -> tuple[int, dict[str, Any]]:
        out, err = running.communicate(timeout=LONG)
        assert out, (running.returncode, err)
        return running.returncode, json.loads(out.splitlines()[-1])["runs"][0]

    def states(self) -> dict[str, SessionState]:
        views = self.hold.managed_sessions(all_states=True).sessions
        return {each.record.session.task_id: each.record.state for each in views}

    def until_all(self, state: SessionState, number: int) -> None:
        try:
            until(lambda: [*self.states().values()].count(state) == number, what=f"{number} sessions are {state}")
        except AssertionError as fault:
            if self.running is not None:
                status = self.running.poll()
                self.running.kill()
                fault.add_note(f"{self.states()}\nstatus {status}: {self.running.communicate()}")
            raise

    def is_over(self, session: str) -> bool:
        return self.hold.managed_sessions(session).sessions[0].record.is_final

    def tree(self) -> set[str]:
        return set(Git(str(self.root)).ask("ls-tree", "--name-only", "HEAD").decode().split())


@pytest.fixture
def site(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    root = make_repository(tmp_path / "work")
    for name, value in (("name", "ann"), ("email", "ann@example.com")):
        git(root, "config", f"user.{name}", value)
    (tmp_path / "agent.sh").write_text(AGENT.format(folder=tmp_path))
    (tmp_path / "plan.yaml").write_text(PLAN)
    values = {"DAEMON": "on", "AGENT": "ann", "WORKSPACES": str(tmp_path / "workspaces")}
    for name, value in values.items():
        monkeypatch.setenv(f"COMMONHOLD_{name}", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(root)
    with place(root), serving(root) as daemon, daemon.session() as hold:
        yield Site(root, hold, lambda *words: call(capsysbinary, monkeypatch, *words))
        for view in hold.managed_sessions().sessions:
            hold.change_managed_session(view.record.id, commonhold.SessionAction.CANCEL, note="the test is over")
        until(lambda: not any((tmp_path / "workspaces").glob("*/s*")), what="workspaces are gone")


def test_a_whole_plan_lands_and_what_is_returned_is_done_again(site: Site) -> None:
    status, run = site.ended(site.begin("../plan.yaml", "--isolated"))
    assert (status, run["state"], run["isolated"]) == (0, "completed", True)
    assert site.tree() >= {"a.py", "sum.py", "use.py", "careful.txt"}
    assert "careless.py" not in site.tree()
    # Of two that change one expression, one landed, and the other did its work again without it.
    text = (site.root / "a.py").read_text()
    assert ("value + 1" in text) != ("value + 2" in text)
    assert set(site.states().values()) == {SessionState.COMPLETED}
    log = Git(str(site.root)).ask("log", "--first-parent", "--format=%B").decode()
    assert all(f"Commonhold-Task: {each}" in log for each in ("sum", "use", "left", "right", "careless"))
    careless = next(each.record for each in site.hold.managed_sessions(all_states=True, task_id="careless").sessions)
    assert [each.number for each in careless.attempts] == [1, 2]
    assert "This command failed on the merged files" in site.call("session", "logs", careless.id).text
    assert site.call("replay").status == 0
    assert Git(str(site.root)).ask("status", "--porcelain") == b""


def test_a_run_that_is_stopped_pauses_its_sessions_and_goes_on_with_them(site: Site) -> None:
    site.gate.touch()
    running = site.begin("../plan.yaml", "--isolated")
    site.until_all(SessionState.RUNNING, 4)
    running.send_signal(signal.SIGINT)
    status, run = site.ended(running)
    assert (status, run["state"]) == (130, "stopped")
    site.until_all(SessionState.PAUSED, 4)
    site.gate.unlink()
    status, run = site.ended(site.begin("--resume", run["id"]))
    assert (status, run["state"]) == (0, "completed")
    (first,) = site.hold.managed_sessions(all_states=True, task_id="sum").sessions
    assert [each.turns for each in first.record.attempts] == [2]
    assert "careful.txt" in site.tree(), "the resumed run has forgotten its check"


def test_the_sessions_of_a_killed_run_go_on_and_land_with_the_next(site: Site) -> None:
    site.gate.touch()
    running = site.begin("../plan.yaml", "--isolated")
    site.until_all(SessionState.RUNNING, 4)
    running.kill()
    running.communicate()
    site.gate.unlink()
    site.until_all(SessionState.AWAITING_REVIEW, 4)
    until(lambda: len(site.hold.entries().entries) == 4, what="the work of all is in the queue")
    (found,) = site.hold.runs().runs
    status, run = site.ended(site.begin("--resume", found.run.id))
    assert (status, run["state"]) == (0, "completed")
    assert site.tree() >= {"sum.py", "use.py"}


def test_a_run_whose_session_a_person_cancels_ends_with_the_reason_until_that_is_retried(site: Site) -> None:
    (site.root.parent / "plan.yaml").write_text(
        'tasks: [{id: sum, title: "sum"}, {id: use, title: "use", needs: [sum]}]'
    )
    site.gate.touch()
    running = site.begin("../plan.yaml", "--isolated")
    site.until_all(SessionState.RUNNING, 1)
    (view,) = site.hold.managed_sessions().sessions
    assert site.call("session", "cancel", view.record.id, "--note", "not now").status == 0
    status, run = site.ended(running)
    assert (status, run["state"]) == (1, "failed")
    assert f"sum: its session {view.record.id} was cancelled" in run["note"]
    site.gate.unlink()
    status, run = site.ended(site.begin("--resume", run["id"]))
    assert (status, run["state"]) == (1, "failed"), "a session that a person has cancelled was begun again"
    assert site.call("session", "retry", view.record.id).status == 0
    status, run = site.ended(site.begin("--resume", run["id"]))
    assert (status, run["state"]) == (0, "completed")


def test_a_session_that_lands_without_a_run(site: Site) -> None:
    agent = f"sh {site.root.parent}/agent.sh {{prompt_file}}"
    begun = site.call("session", "start", "sum", "--with", agent, "--land", "--json").json
    (session,) = begun["sessions"]
    site.until_all(SessionState.AWAITING_REVIEW, 1)
    until(lambda: site.hold.entries().entries, what="its work is in the queue")
    assert "it waits in the merge queue as e" in site.call("session", "show", session["id"]).text
    (view,) = site.hold.managed_sessions(session["id"]).sessions
    assert not view.needs_person
    assert process("queue", "run", "--until-empty", cwd=site.root).returncode == 0
    site.until_all(SessionState.COMPLETED, 1)
    assert "sum.py" in site.tree()
    written = Git(str(site.root)).ask("log", "-1", "--format=%s%n%b", "HEAD^2").decode()
    assert written.startswith("sum\n")
    assert f"Commonhold-Session: {session['id']}" in written
    with pytest.raises(InputError) as refused:
        site.hold.start_managed_session("x", agent=agent, lands=True, remote="origin")
    assert refused.value.code is Code.SESSION_INVALID


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--isolated", "--editor", "./editor.py"), "an isolated run starts an agent for each task"),
        (("--isolated", "--editor", "x {prompt_file}", "--validator", "./v.py"), "--validator cannot be used"),
        (("--editor", "x {prompt_file}", "--sandbox", "bubblewrap"), "--sandbox cannot be used"),
    ],
)
def test_options_that_do_not_fit_are_refused(site: Site, words: tuple[str, ...], said: str) -> None:
    refused = site.call("run", "start", "../plan.yaml", *words)
    assert (refused.status, said in refused.err) == (2, True), refused
    assert not site.hold.tasks().tasks


@pytest.mark.parametrize(
    "line", ["git switch -qc elsewhere; echo x > b.py; git add b.py; git commit -qm b", "echo x > b.py"]
)
def test_work_lands_from_whatever_branch_the_agent_leaves_and_onto_the_target_of_its_task(
    site: Site, line: str
) -> None:
    git(site.root, "branch", "release")
    site.hold.add_tasks(Task("price", "prices", target="release"))
    agent = f"{line}; : {{prompt_file}}"
    (view,) = site.hold.start_managed_session("", agent=agent, task_id="price", lands=True).sessions
    until(lambda: site.hold.entries().entries, what="its work is in the queue")
    (entry,) = site.hold.entries().entries
    record = site.hold.managed_sessions(view.record.id).sessions[0].record
    assert record.result is not None
    assert (entry.record.entry.onto, entry.record.entry.commit) == ("refs/heads/release", record.result.tip)
    assert process("queue", "run", "--onto", "release", "--until-empty", cwd=site.root).returncode == 0
    site.until_all(SessionState.COMPLETED, 1)
    assert Git(str(site.root)).ask("show", "release:b.py") == b"x\n"


def test_work_that_the_queue_does_not_take_is_kept_and_holds_up_no_other_session(site: Site) -> None:
    site.gate.touch()
    waits = f"echo x > b.py; while [ -e {site.gate} ]; do sleep 0.05; done; : {{prompt_file}}"
    site.hold.add_tasks(Task("price", "prices", target="main"))
    (view,) = site.hold.start_managed_session("", agent=waits, task_id="price", lands=True).sessions
    site.until_all(SessionState.RUNNING, 1)
    git(site.root, "checkout", "--quiet", "--detach")
    git(site.root, "branch", "--delete", "--force", "main")
    site.gate.unlink()
    site.until_all(SessionState.CANCELLED, 1)
    record = site.hold.managed_sessions(view.record.id).sessions[0].record
    assert record.note.startswith("its work cannot land: ")
    assert record.result is not None
    assert Git(str(site.root)).ask("show", f"{record.result.tip}:b.py") == b"x\n"
    (other,) = site.hold.start_managed_session("again", agent="true; : {prompt_file}", base="HEAD").sessions
    until(lambda: site.hold.managed_sessions(other.record.id).sessions[0].record.state is SessionState.AWAITING_REVIEW)


def test_an_agent_that_changes_nothing_has_failed_unless_a_check_says_otherwise(site: Site) -> None:
    for checks, state in (((), SessionState.FAILED), (("true",), SessionState.COMPLETED)):
        (view,) = site.hold.start_managed_session(
            "x", agent="true; : {prompt_file}", lands=True, checks=checks
        ).sessions
        name = view.record.id
        until(partial(site.is_over, name), what="it ends")
        assert site.hold.managed_sessions(name).sessions[0].record.state is state


def test_a_resumed_run_keeps_the_set_up_and_the_limits_of_its_sessions(site: Site) -> None:
    (site.root.parent / "plan.yaml").write_text(
        'tasks: [{id: sum, title: "sum"}, {id: use, title: "use", needs: [sum]}]'
    )
    site.gate.touch()
    running = site.begin("../plan.yaml", "--isolated", "--setup", "echo prepared")
    site.until_all(SessionState.RUNNING, 1)
    running.send_signal(signal.SIGINT)
    _, run = site.ended(running)
    site.until_all(SessionState.PAUSED, 1)
    site.gate.unlink()
    status, _ = site.ended(site.begin("--resume", run["id"]))
    assert status == 0
    views = site.hold.managed_sessions(all_states=True).sessions
    assert [each.record.session.setup for each in views] == ["echo prepared"] * 2
