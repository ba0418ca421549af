"""`commonhold doctor --compact`, beside a daemon or without: old events are exported, then gone, and nothing else."""

from pathlib import Path

import pytest
from tests.e2e.cli_driver import Call
from tests.e2e.daemon_process import Place
from tests.e2e.served import served
from tests.patience import until

import commonhold
from commonhold.history import compaction
from commonhold.server.daemon import lifetime

pytestmark = pytest.mark.slow


def findings(run: Call, *words: str) -> dict[str, str]:
    """Run doctor; return what it found, by check."""
    return {each["check"]: each["found"] for each in run("doctor", *words, "--json").json["findings"]}


@pytest.mark.parametrize("daemon", ["on", "off"])
def test_old_events_are_exported_and_replaced(
    run: Call, root: Path, monkeypatch: pytest.MonkeyPatch, daemon: str
) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", daemon)
    (root / "commonhold.toml").write_text("retention_days = 0\n", encoding="utf-8")
    first, second = str(root / "first.jsonl"), str(root / "second.jsonl")
    try:
        for number in range(4):
            run("put", f"user:{number}", "text", "--expect", "0")
            if daemon == "on":
                Place(root).wait_until_served()
        young = findings(run, "--compact", "--before", "1d", "--export", first)["compact"]
        assert young == f"no event is old enough to go, so {first} was not written"
        done = findings(run, "--compact", "--before", "0s", "--export", first)
        assert "3 events, 1 to 3, replaced by a snapshot" in done["compact"]
        assert "the events up to 3 were compacted" in done["chain"]
        assert [each["sequence"] for each in run("log", "--json").json["events"]] == [4, 5]
        run("put", "user:0", "other", "--expect", "1")
        assert "there is a file" in findings(run, "--compact", "--before", "0s", "--export", first)["compact"]
        assert run("log", "--after", "0", "--json").json["events"][0]["sequence"] == 4
        findings(run, "--compact", "--before", "0s", "--export", second)
        whole = run("log", "--verify", first, "--verify", second, "--json")
        assert (whole.status, whole.json["first"], whole.json["exported"]) == (0, 1, 5)
        assert run("log", "--verify", second).status == 0
        missing = run("log", "--verify", first)
        assert (missing.status, "events 4 to 5 are missing" in missing.text) == (1, True)
        assert run("replay", "--json").json["compacted"] == 5
        gone = run("explain", "2", "--json")
        assert (gone.json["code"], second in gone.json["hint"]) == ("EVENT_COMPACTED", True)
        assert "other" in run("get", "user:0").text
    finally:
        run("daemon", "stop")


def test_a_server_compacts_by_itself_as_the_settings_say(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifetime, "AFTER_SECONDS", 0.0)
    monkeypatch.setattr(compaction, "_WORTH_IT", 3)
    (root / "commonhold.toml").write_text("retention_days = 0\nevent_days = 1e-9\n", encoding="utf-8")
    with commonhold.open(str(root), agent="ann") as session:
        for number in range(4):
            session.put(f"user:{number}", "text", expected_version=0)
    with served(root) as server, server.connect() as ann:
        until(lambda: ann.log(limit=1)[0].sequence > 1)
        assert ann.get("user:0").text == "text"


def test_a_changed_export_is_found(run: Call, root: Path) -> None:
    (root / "commonhold.toml").write_text("retention_days = 0\n", encoding="utf-8")
    file = root / "old.jsonl"
    for number in range(4):
        run("put", f"user:{number}", "text", "--expect", "0")
    findings(run, "--compact", "--before", "0s", "--export", str(file))
    lines = file.read_text(encoding="utf-8")
    file.write_text(lines.replace("user:1", "user:7"), encoding="utf-8")
    found = run("log", "--verify", str(file), "--json")
    assert (found.status, found.json["outcome"], found.json["event"]) == (1, "broken", 2)
    file.write_text(lines + "no event\n", encoding="utf-8")
    assert run("log", "--verify", str(file), "--json").json["code"] == "USAGE"
    assert run("log", "--verify", str(root / "none"), "--json").json["code"] == "FILE_NOT_FOUND"


def test_what_needs_an_event_is_named(run: Call) -> None:
    run("acquire", "x:1")
    run("put", "user:1", "text", "--expect", "0")
    assert "`retention_days` keeps their contents" in findings(run, "--compact", "--before", "0s")["compact"]
    refused = run("doctor", "--before", "9d", "--json")
    assert (refused.status, refused.json["code"]) == (2, "USAGE")
