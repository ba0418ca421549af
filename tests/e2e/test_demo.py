"""The demo as a newcomer runs it, small: real agents, real servers, a real report."""

import ast
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text
from tests.patience import until

import commonhold
from commonhold.demo import beside_server, hooked
from commonhold.demo.board import Board
from commonhold.demo.hooked import play
from commonhold.demo.marking import mark_function, mark_function_in_file, mark_header, times_marked
from commonhold.demo.messages import Policy, Progress, What
from commonhold.demo.options import DemoOptions
from commonhold.demo.report import Outcome, Report
from commonhold.demo.stage import Stage
from commonhold.demo.workload import ChoreKind, workload

FUNCTIONS = {"p/a.py": ("f", "g", "h"), "p/b.py": ("C.m", "C.n", "C.o")}
README = Path(__file__).parents[2] / "README.md"
slow = pytest.mark.slow


def test_the_workload_comes_from_the_seed() -> None:
    def made(seed: int, agents: int = 3) -> object:
        return workload(FUNCTIONS, agents=agents, edits=25, think=0.5, seed=seed)

    assert made(1) == made(1)
    assert made(1) != made(2)
    eight = workload(FUNCTIONS, agents=8, edits=25, think=0.5, seed=1)
    assert workload(FUNCTIONS, agents=1, edits=25, think=0.5, seed=1)[0] == eight[0]
    edits = [edit for share in eight for edit in share]
    assert {edit.kind for edit in edits} == set(ChoreKind)
    assert all(0.4 <= edit.think_seconds <= 0.6 for edit in edits)
    markers = [edit.marker(index) for edit in edits for index in range(len(edit.places))]
    assert len(set(markers)) == len(markers)


SOURCE = '''\
"""A module."""
from __future__ import annotations
import os

LIMIT = 3


class C:
    # about m
    @property
    def m(self):
        """Doc."""
        return os.sep


def f(x):
    """Only words."""


async def g(): return 1
'''


def test_a_mark_goes_to_the_same_place_in_a_file_and_in_a_region() -> None:
    region = SOURCE[SOURCE.index("    # about m") : SOURCE.index("\n\ndef f")]
    marked = mark_function(region, '_x = "m"\n')
    assert mark_function_in_file(SOURCE, "C.m", '_x = "m"\n') == SOURCE.replace(region, marked)
    assert marked.splitlines()[-2:] == ['        _x = "m"', "        return os.sep"]


def test_a_mark_changes_nothing_else() -> None:
    for marked in (mark_function_in_file(SOURCE, "f", '_x = "m"\n'), mark_header(SOURCE, '_x = "m"\n')):
        ast.parse(marked)
        assert marked.replace('    _x = "m"\n', "").replace('_x = "m"\n', "") == SOURCE
        assert times_marked(marked, "m") == 1
    assert mark_header(SOURCE, "_x = 1\n").index("_x") > SOURCE.index("import os")
    with pytest.raises(LookupError):
        mark_function_in_file(SOURCE, "nobody", "")


@slow
def test_the_stage_counts_what_is_lost(tmp_path: Path) -> None:
    stage = Stage.build(tmp_path)
    functions = stage.functions()
    edits = workload(functions, agents=1, edits=12, think=0, seed=3)[0]
    assert all(len(names) > 3 for names in functions.values())
    assert stage.works()
    assert stage.lost(edits) == list(edits)
    (stage.root / stage.paths[0]).write_text("def broken(:\n", encoding="utf-8")
    assert not stage.works()
    stage.record("broken")
    stage.restore()
    assert stage.works()


def outcome(seconds: float, lost: int = 0, *, edits: int = 200, applied: int = 200) -> Outcome:
    return Outcome(seconds, edits, applied, refused=0, retries=0, lost_updates=lost, compiles=True)


@pytest.mark.parametrize(
    ("ours", "is_proof"),
    [(outcome(16), True), (outcome(16, lost=1), False), (outcome(16, applied=199), False)],
)
def test_the_report_has_the_agreed_shape(ours: Outcome, *, is_proof: bool) -> None:
    policies = {Policy.NONE: outcome(13, lost=90), Policy.FILE: outcome(40), Policy.COMMONHOLD: ours}
    report = Report(policies, outcome(13, edits=25, applied=25), DemoOptions())
    shape = report.shape()
    assert list(shape["policies"]) == ["none", "file", "commonhold"]
    for part in shape["policies"].values():
        assert {"wall_seconds", "edits", "applied", "refused", "retries", "lost_updates", "compiles"} <= set(part)
    assert shape["speedup_vs_one_agent"] == pytest.approx(6.5, abs=0.1)
    assert report.is_proof is is_proof
    assert "90 of 200 edits" in report.words()
    assert "collided" not in report.words()
    assert "agent-1 alone with its 25 edits" in report.words()


def shown(report: Report) -> str:
    """All that a person is told."""
    console = Console(width=120, file=StringIO(), record=True)
    console.print(report.table())
    return console.export_text() + report.words()


SPEED = re.compile(r"\d s\b|a second\b|speed .*\d|did the work of|\d x\b")


def test_a_quick_run_says_nothing_about_speed() -> None:
    policies = {Policy.NONE: outcome(1), Policy.FILE: outcome(1), Policy.COMMONHOLD: replace(outcome(1), retries=1)}
    report = Report(policies, None, DemoOptions(quick=True))
    assert not SPEED.search(shown(report))
    assert "Speed is not measured in so short a run" in report.words()
    assert "1 edit collided: it was refused" in report.words()
    assert report.shape()["speedup_vs_one_agent"] is report.shape()["one_agent"] is None
    assert report.is_proof


@pytest.mark.parametrize(("seconds", "is_told"), [(13, True), (30, False)])
def test_speed_is_told_only_where_it_is_not_the_machine_that_was_measured(seconds: float, *, is_told: bool) -> None:
    """Agents that wait for nobody must be about as quick as so many times one alone."""
    policies = {Policy.NONE: outcome(seconds, lost=90), Policy.FILE: outcome(40), Policy.COMMONHOLD: outcome(35)}
    report = Report(policies, outcome(13, edits=25, applied=25), DemoOptions())
    assert bool(SPEED.search(shown(report))) is is_told
    assert ("too busy" in report.words()) is not is_told
    assert report.is_proof


@slow
def test_two_agents_are_kept_apart_by_their_hooks_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMMONHOLD_AGENT", raising=False)
    scene = play(tmp_path)
    assert scene.is_proof
    assert "return round(amount, 2)" in scene.text
    assert "if not items:" in scene.text
    told = README.read_text(encoding="utf-8")
    assert all(f"   {line}\n" in told for line in scene.lines[1:] if not line.startswith("  |"))
    story = "\n".join(scene.lines)
    assert "(REGION_CHANGED)" in story
    assert 'claude-1 for "Round the total to cents"' in story
    assert story.index("  |     return round(amount, 2)") < story.index("claude-2 redoes its change on the fresh text")


def test_the_board_counts_what_agents_say() -> None:
    board = Board("title", ["agent-1", "agent-2"], edits=2)
    board.hear("agent-1", Progress(What.READY))
    board.begin("Commonhold", "how", ["agent-1"])
    for progress in (
        Progress(What.THINKING, 1, "p/a.py#f"),
        Progress(What.REFUSED, 1, "p/a.py#f", "REGION_CHANGED", "agent-2"),
        Progress(What.RETHINKING, 1, "p/a.py#f"),
        Progress(What.APPLIED, 1, "p/a.py#f"),
        Progress(What.GAVE_UP, 2, "p/a.py#f", "PARSE_INVALID"),
    ):
        board.hear("agent-1", progress)
    row = board.rows["agent-1"]
    assert (row.applied, row.refused, row.retries, row.gave_up) == ({1}, 1, 1, 1)
    assert board.line == "Commonhold: 1/2 applied, 1 refused, 0 leases live"
    assert "agent-2" in board.news[0]
    board.end(Text("over"))
    assert board.line == ""


def environment(temporary: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(temporary), "COLUMNS": "120"}


COMMAND = [sys.executable, "-m", "commonhold", "demo"]


@slow
def test_a_quick_demo_proves_its_point(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [*COMMAND, "--quick", "--report", str(report)]
    result = subprocess.run(
        command, cwd=tmp_path, env=environment(tmp_path), check=False, capture_output=True, text=True, timeout=500
    )
    assert result.returncode == 0, result.stdout + result.stderr
    ours = json.loads(report.read_text(encoding="utf-8"))["policies"]["commonhold"]
    assert (ours["edits"], ours["applied"], ours["lost_updates"], ours["compiles"]) == (12, 12, 0, True)
    assert "Commonhold: 0 lost, 12 of 12 applied" in result.stdout
    assert "prices.py has both changes" in result.stdout
    assert not SPEED.search(result.stdout)
    assert list(tmp_path.glob("commonhold-demo-*")) == []


@contextmanager
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A demo whose agents, two of them, are at work."""
    command = [*COMMAND, "--agents", "2"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "applied" in line:
                break
        assert process.poll() is None, "the demo ended before its agents were at work"
        yield process
    finally:
        process.kill()
        process.communicate()


def descendants(pid: int) -> list[int]:
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return []
    return [each for child in map(int, found) for each in (child, *descendants(child))]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_nothing_behind(tmp_path: Path, ending: signal.Signals) -> None:
    with running(tmp_path) as process:
        started = descendants(process.pid)
        process.send_signal(ending)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert len(started) >= 4
    until(lambda: not any(map(is_running, started)))
    assert list(tmp_path.glob("commonhold-demo-*")) == []


@slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_dead_agent_fails_the_demo(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        victim = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()[0])
        os.kill(victim, signal.SIGKILL)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert "ended in the middle of its work" in said


@slow
def test_two_agents_collide_beside_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside_server, "PAUSE_SECONDS", 0.0)
    links: list[str] = []
    beside_server.show(tmp_path, 0, links.append, rounds=1)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#chd_\w{8}_[\w-]+", links[0])
    text = (tmp_path / "shop/prices.py").read_text(encoding="utf-8")
    assert all(new in text for _, new in beside_server.edits(0))
    with commonhold.open(str(tmp_path / "shop"), agent="reader") as hold:
        found = hold.overview()
    assert "commit_refused" in [each.kind for each in found.incidents]
    assert found.agents == ()


def test_each_round_of_edits_goes_on_from_the_one_before() -> None:
    text = hooked.SOURCE
    for number in range(20):
        for old, new in beside_server.edits(number):
            assert text.count(old) == 1
            text = text.replace(old, new)
