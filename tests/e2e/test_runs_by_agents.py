"""Runs whose editors write files by themselves: an agent with its hooks, and any command with a prompt."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli_driver import Call, start
from tests.e2e.test_runs import add_file, folded, lines
from tests.patience import until

import commonhold
from commonhold.kernel.events import Committed

pytestmark = pytest.mark.slow

STAND_IN = Path(__file__).with_name("stand_in_agent.py")
SHOP = "def price(amount):\n    return amount\n\n\ndef total(items):\n    return sum(items)\n"
TWICE = "python3 -c 'import shop; assert shop.price(2) == 4'"
NOTES = "# Prices\n\n## Rounding\n\n`price()` of shop.py never rounds.\n"


@pytest.fixture
def shop(root: Path, run: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which Claude Code is installed, and a program that stands in for it."""
    programs = tmp_path / "programs"
    programs.mkdir()
    claude = programs / "claude"
    claude.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} "$@"\n', encoding="utf-8")
    claude.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("COMMONHOLD_DAEMON", "on")  # the hooks start one
    add_file(root, "shop.py", SHOP)
    add_file(root, "NOTES.md", NOTES)
    assert run("install", "claude", "--yes").status == 0
    return root


def plan(root: Path, *tasks: dict[str, Any]) -> str:
    (root.parent / "plan.yaml").write_text(json.dumps({"goal": "prices", "tasks": tasks}), encoding="utf-8")
    return "../plan.yaml"


def obey(root: Path, **tasks: list[dict[str, Any]]) -> None:
    (root.parent / "agent.json").write_text(json.dumps(tasks), encoding="utf-8")


def prompt(root: Path, name: str) -> str:
    return (root.parent / "prompts" / name).read_text(encoding="utf-8")


def commits(root: Path) -> dict[int, Committed]:
    with commonhold.open(str(root)) as hold:
        log = hold.log(after=0, limit=100_000)
    return {each.sequence: each.event for each in log if isinstance(each.event, Committed)}


PRICE = {"id": "price", "title": "double the price", "intent": "price() doubles", "keys": ["shop.py#price"]}
DOUBLED = {"edits": [["shop.py", "    return amount", "    return amount * 2"]]}


def test_an_agent_does_a_task_by_its_own_tools(shop: Path, run: Call) -> None:
    obey(shop, price=[DOUBLED])
    found = run("run", plan(shop, {**PRICE, "checks": [TWICE], "agent": "claude"}), "--editor", "claude", "--json")
    assert found.status == 0, found.err
    (item,) = lines(found.out)[-1]["runs"][0]["items"]
    assert item["usage"] == {"tokens_in": 120, "tokens_out": 10, "cost": 0.25, "tokens_cached": 20}
    ((sequence, made),) = commits(shop).items()
    assert made.holder.startswith("claude:")
    assert "file:shop.py#price" in {region.key for region in made.regions}
    (task,) = run("task", "show", "price", "--json").json["tasks"]
    assert task["result"]["admitted"] == [sequence]
    text = prompt(shop, "price-1")
    assert text.startswith("price() doubles\n")
    assert TWICE in text
    assert "`price()` of shop.py never rounds." in text
    folded(shop)


def test_what_a_failed_attempt_has_written_belongs_to_the_task(shop: Path, run: Call) -> None:
    """The second attempt is given the failure and the commits; undoing the task takes back both."""
    broken = {"edits": [["shop.py", "    return amount", "    return amount + 2"]], "error": "rate limit"}
    mended = {"edits": [["shop.py", "amount + 2", "amount * 2"]]}
    obey(shop, price=[broken, mended])
    found = run("run", plan(shop, PRICE), "--editor", "claude", "--check", TWICE, "--json")
    assert found.status == 0, found.err
    first, second = commits(shop)
    text = prompt(shop, "price-2")
    assert "An earlier attempt failed: claude failed: rate limit" in text
    assert f"in the commits #{first} of" in text
    assert run("task", "show", "price", "--json").json["tasks"][0]["result"]["admitted"] == [first, second]
    assert run("undo", "task:price", "--apply").status == 0
    assert (shop / "shop.py").read_text(encoding="utf-8") == SHOP


def test_an_agent_that_changes_nothing_has_not_done_its_task(shop: Path, run: Call) -> None:
    obey(shop, price=[{}])
    found = run("run", plan(shop, {**PRICE, "attempts": 1}), "--editor", "claude", "--json")
    assert found.status == 1
    (item,) = lines(found.out)[-1]["runs"][0]["items"]
    assert item["state"] == "failed"
    assert "claude changed nothing" in item["note"]


def test_an_agent_is_refused_what_others_hold_and_leaves_no_lease_when_it_is_ended(shop: Path, run: Call) -> None:
    assert run("acquire", "shop.py#price", "--task", "rework", "--agent", "bob").status == 0
    obey(shop, price=[{**DOUBLED, "is_killed": True}], total=[{"edits": [["shop.py", "sum(items)", "sum(items, 0)"]]}])
    total = {"id": "total", "title": "total", "keys": ["shop.py#total"]}
    found = run("run", plan(shop, {**PRICE, "attempts": 1}, total), "--editor", "claude", "--json")
    assert found.status == 1
    states = {item["task"]: item["state"] for item in lines(found.out)[-1]["runs"][0]["items"]}
    assert states == {"price": "failed", "total": "accepted"}
    assert "- bob holds file:shop.py#price: rework" in prompt(shop, "price-1")
    assert [lease["holder"] for lease in run("leases", "--json").json["leases"]] == ["bob"]


def test_a_stopped_agent_ends_and_its_commits_are_kept(shop: Path) -> None:
    obey(shop, price=[{**DOUBLED, "seconds": 300}, {"edits": [["shop.py", "amount * 2", "2 * amount"]]}])
    running = start("run", plan(shop, PRICE), "--editor", "claude", "--json", cwd=shop)
    try:
        until(lambda: commits(shop))
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130, err
    (item,) = lines(out)[-1]["runs"][0]["items"]
    (first,) = commits(shop)
    assert (item["state"], item["admitted"]) == ("open", [first])
    ended = start("run", "--resume", "r1", "--editor", "claude", "--json", cwd=shop)
    out, err = ended.communicate(timeout=60)
    assert ended.returncode == 0, err
    (item,) = lines(out)[-1]["runs"][0]["items"]
    assert item["admitted"] == list(commits(shop))
    folded(shop)


def test_a_command_with_a_prompt_writes_as_the_session_of_its_item(shop: Path, run: Call) -> None:
    command = (
        "cp {prompt_file} ../seen && sed -i 's/return amount/return amount * 2/' {workspace}/shop.py; echo doubled"
    )
    found = run("run", plan(shop, {**PRICE, "checks": [TWICE]}), "--editor", command, "--json")
    assert found.status == 0, found.err + found.text
    ((sequence, made),) = commits(shop).items()
    assert made.holder == "editor:r1.price"
    (item,) = lines(found.out)[-1]["runs"][0]["items"]
    assert item["admitted"] == [sequence]
    assert (shop.parent / "seen").read_text(encoding="utf-8").startswith("price() doubles\n")


def test_commands_at_the_same_time_are_credited_with_the_files_of_their_items(shop: Path, run: Call) -> None:
    (shop.parent / "write.sh").write_text(
        """case "$(cat "$1")" in *"the task one "*) mine=one other=two ;; *) mine=two other=one ;; esac
touch ../began-$mine
until [ -e ../began-$other ]; do sleep 0.05; done
echo $mine > new/$mine.txt
touch ../wrote-$mine
until [ -e ../wrote-$other ]; do sleep 0.05; done
"""
    )
    (shop / "new").mkdir()
    tasks = [{"id": each, "title": each, "keys": [f"new/{each}.txt"], "attempts": 1} for each in ("one", "two")]
    editor = ("--editors", "2", "--editor", "sh ../write.sh {prompt_file}")
    found = run("run", plan(shop, *tasks), *editor, "--json")
    assert found.status == 0, found.err
    made = {event.holder.rpartition(".")[2]: [each.path for each in event.files] for event in commits(shop).values()}
    assert made == {"one": ["new/one.txt"], "two": ["new/two.txt"]}
    assert run("leases", "--json").json["leases"] == []


def test_an_agent_without_hooks_here_is_no_editor(root: Path, run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = root.parent / "programs"
    programs.mkdir()
    (programs / "codex").write_text("#!/bin/sh\n", encoding="utf-8")
    (programs / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    for agent, why in (("codex", "its hooks are not installed here"), ("claude", "is not on the path")):
        found = run("run", plan(root, PRICE), "--editor", agent)
        assert found.status == 2
        assert why in found.err
    assert run("run", "list", "--all", "--json").json["runs"] == []
