"""Twenty scripted agents on a copy of a real package, each in its own workspace: good work lands, bad work is named."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.e2e.cli_driver import git, start
from tests.e2e.daemon_process import place, serving

from commonhold.kernel.managed_session import SessionState
from commonhold.workspace.git.process import Git

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="lost processes are found in /proc"),
]
LONG = 600.0
AGENT = f"{sys.executable} {Path(__file__).with_name('click_agent.py')} {{prompt_file}}"
DOCUMENTED = ("echo", "open_file", "format_filename", "get_app_dir", "prompt", "confirm", "secho", "launch")
MODULES = ("plus_one", "plus_two", "plus_three", "plus_four", "plus_five", "plus_six")
CHECK = """
import importlib, pathlib
import click
from click.testing import CliRunner
from click.utils import _posixify
for each in pathlib.Path("click").glob("*.py"):
    if each.stem not in ("_winconsole", "__init__"):
        importlib.import_module(f"click.{each.stem}")
@click.command()
@click.option("--count", default=2, help="How often.")
@click.argument("word")
def say(count, word):
    click.echo(word * count)
found = CliRunner().invoke(say, ["--count", "3", "ab"])
assert (found.exit_code, found.output) == (0, "ababab\\n"), found
assert "How often." in CliRunner().invoke(say, ["--help"]).output
assert _posixify("My App") == "my-app"
"""
CHECKED = f"PYTHONPATH=. {sys.executable} -B check.py"


def plan() -> str:
    titles = [
        *(f"document {each}" for each in DOCUMENTED),
        *(f"module {each}" for each in MODULES),
        *("length 50", "length 60", "rename make_str", "use make_str", "spoil it"),
    ]
    tasks = [{"id": f"part-{number}", "title": title} for number, title in enumerate(titles)]
    last = {"id": "last", "title": "module plus_seven", "needs": ["part-8"]}
    return json.dumps([*tasks, last])


def test_all_good_work_lands_and_every_bad_change_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "work"
    shutil.copytree(Path(click.__file__).parent, root / "click", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "check.py").write_text(CHECK)
    (tmp_path / "plan.json").write_text(plan())
    git(root, "init", "--quiet", "--initial-branch=main")
    for name, value in (("user.name", "ann"), ("user.email", "ann@example.com")):
        git(root, "config", name, value)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "begin")
    values = {"DAEMON": "on", "AGENT": "ann", "WORKSPACES": str(tmp_path / "workspaces"), "MAX_SESSIONS": "20"}
    for name, value in values.items():
        monkeypatch.setenv(f"COMMONHOLD_{name}", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    with place(root), serving(root) as daemon, daemon.session() as hold:
        words = ("run", "../plan.json", "--isolated", "-n", "20", "--editor", AGENT, "--check", CHECKED, "--json")
        out, err = start(*words, cwd=root).communicate(timeout=LONG)
        assert b'"runs"' in out, (out, err)
        run = json.loads(out.splitlines()[-1])["runs"][0]
        sessions = [each.record for each in hold.managed_sessions(all_states=True).sessions]
        tasks = {each.record.task.title: each.record.state.value for each in hold.tasks(all_states=True).tasks}
        log = Git(str(root)).ask("log", "--first-parent", "--reverse", "--format=%H").decode().split()
        bad = [title for title, state in tasks.items() if state != "landed"]
        assert bad == ["spoil it"], (run, tasks)
        (spoilt,) = [each for each in sessions if each.state is not SessionState.COMPLETED]
        assert (spoilt.session.title, len(spoilt.attempts)) == ("spoil it", 3)
        assert run["state"] == "failed"
        assert run["note"] == f"these items cannot go on: {spoilt.session.task_id}"
        (item,) = [each for each in run["items"] if each["state"] != "accepted"]
        assert "check.py` failed" in item["note"]
    assert len(log) == 1 + len(tasks) - 1
    for commit in log:
        git(root, "checkout", "--quiet", "--detach", commit)
        done = subprocess.run(["/bin/sh", "-c", CHECKED], cwd=root, capture_output=True, check=False)
        assert done.returncode == 0, (commit, done.stderr)
    text = (root / "click/utils.py").read_text()
    assert ("max_length: int = 50" in text) != ("max_length: int = 60" in text)
    assert "make_str" not in "".join(each.read_text() for each in (root / "click").glob("*.py"))
    assert Git(str(root)).ask("show", "main:click/_shout.py").decode().count("to_text") == 2
