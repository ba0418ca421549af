"""The commands that read the log again: undo, explain, replay, and the exports of log."""

import json
from pathlib import Path

import pytest
from tests.e2e.cli_driver import Call
from tests.e2e.test_cli_commands import next_words

from commonhold.stores.sqlite.connect import connect

pytestmark = pytest.mark.slow

ONE = b"def one():\n    return 5\n"


@pytest.fixture
def one(run: Call) -> str:
    """Commit a new text of `a.py#one` as ben; the old one."""
    shown = run("show", "a.py#one", "--json").json["regions"][0]
    done = run("commit", "--key", "a.py#one", "--base", shown["hash"], "--agent", "ben", "--intent", "five", stdin=ONE)
    assert done.status == 0, done
    text: str = shown["text"]
    return text


def test_an_undo_is_shown_and_then_made_by_the_call_that_it_names(root: Path, run: Call, one: str) -> None:
    shown = run("undo", "ben")
    assert shown.status == 0
    assert "1 commit in 1 file would be undone; nothing was written" in shown.text
    assert "-    return 5" in shown.text
    assert "return 5" in (root / "a.py").read_text(encoding="utf-8")
    done = run(*next_words(shown.text))
    assert "undone: event 2" in done.text
    assert one in (root / "a.py").read_text(encoding="utf-8")
    assert "(undoes 1)" in run("log").text
    again = run("undo", "ben", "--apply")
    assert (again.status, again.text.splitlines()[0]) == (0, "nothing to undo: undone already by event 2")


def test_an_undo_that_others_hinder_names_them_and_a_way_out(root: Path, run: Call, one: str) -> None:
    del one
    base = run("show", "a.py#one", "--json").json["regions"][0]["hash"]
    run("commit", "--key", "a.py#one", "--base", base, "--agent", "cid", stdin=b"def one():\n    return 6\n")
    before = (root / "a.py").read_bytes()
    refused = run("undo", "1", "--apply")
    assert refused.status == 1
    assert "refused [REGION_CHANGED]" in refused.text
    assert "file:a.py#one  cid event 2: changed by cid since" in refused.text
    assert next_words(refused.text)[:2] == ["undo", "2"]
    assert (root / "a.py").read_bytes() == before
    assert run("undo", "nobody-ever").status == 3


def test_past_events_are_explained(run: Call, one: str) -> None:
    del one
    run("commit", "--key", "a.py#one", "--base", "0" * 16, "--agent", "cid", stdin=ONE)
    story = run("explain", "a.py#one").text
    assert 'ben changed file:a.py#one for "five".' in story
    assert "next: commonhold explain REGION_CHANGED" in story
    event = run("explain", "2").text
    assert "cid tried to change" in event
    assert "what to do:" in event
    assert run("explain", "a.py#one", "--json").json["steps"][0]["sequence"] == 1
    assert "the log has no event about" in run("explain", "b.py").text


def test_a_changed_log_is_found(root: Path, run: Call, one: str) -> None:
    del one
    run("acquire", "x:1", "--task", "mine")
    same = run("replay")
    assert (same.status, "the stored state is the same" in same.text) == (0, True)
    connection = connect(str(root / ".git" / "commonhold" / "state.db"))
    connection.execute("UPDATE events SET body = replace(body, 'mine', 'yours') WHERE seq = 2")
    connection.close()
    found = run("replay", "--json")
    assert (found.status, found.json["outcome"]) == (1, "different")
    assert "its hash does not fit" in run("replay").text


def test_the_log_is_exported(root: Path, run: Call, one: str) -> None:
    del one
    run("acquire", "x:1")
    events = run("log", "--after", "0", "--json").json["events"]
    assert [json.loads(line) for line in run("log", "--jsonl").text.splitlines()] == events
    assert [json.loads(line)["sequence"] for line in run("log", "--jsonl", "--limit", "1").text.splitlines()] == [2]
    assert run("log", "--jsonl", "--after", "1", "--limit", "5").text.count("\n") == 1
    written = run("log", "--otel", "trace.json")
    assert written.text == "2 events as traces: trace.json\n"
    traces = json.loads((root / "trace.json").read_text(encoding="utf-8"))
    assert run("log", "--otel", "-").json == traces
    assert len(traces["resourceSpans"][0]["scopeSpans"][0]["spans"]) == 2
    assert run("log", "--otel", "none/trace.json").status == 3
    assert run("log", "--otel", "-", "--jsonl").status == 2
