"""The daemon notifies of work that needs a person; the command line adds, tests and removes the targets."""

import time
from pathlib import Path

import pytest
from tests.e2e.cli_driver import Call
from tests.unit.server.notify.receiver import receiving

pytestmark = pytest.mark.slow


def test_unfinished_work_is_notified_by_the_daemon(run: Call, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "on")
    try:
        with receiving() as receiver:
            made = run("notify", "add", receiver.url, "--private", "--json").json
            receiver.secret = made["secret"]
            receiver.statuses = [503]
            lease = run("acquire", "a.py#one", "--json").json["lease"]["id"]
            (root / "a.py").write_text("def one():\n    return 3\n")
            assert run("renew", lease, "--ttl", "0.2").status == 0
            time.sleep(0.3)  # the lease ends by the clock, with a change under it
            run("sweep")
            first, again = receiver.wait_for(2)
    finally:
        run("daemon", "stop")

    assert first == again
    assert first.is_signed
    assert first.body["type"] == "partial_work"
    assert first.body["repository"] == root.name
    assert "file:a.py#one" in first.body["data"]["why"]
    assert run(*first.body["data"]["next"].split()[1:]).status == 0


def test_targets_are_added_listed_tested_and_removed(run: Call) -> None:
    assert run("notify", "list").status == 0, "an empty list is no failure"
    assert run("notify", "test").status == 1
    refused = run("notify", "add", "http://127.0.0.1/hook", "--json")
    assert (refused.status, refused.json["code"]) == (2, "ADDRESS_UNSAFE")
    with receiving() as receiver:
        made = run("notify", "add", receiver.url, "--private", "--kind", "run_failed", "--json").json
        receiver.secret = made["secret"]
        tested = run("notify", "test", "--json")
        assert (tested.status, tested.json["results"]) == (0, [{"id": made["id"], "delivered": True, "why": ""}])
        assert (receiver.received[0].is_signed, receiver.received[0].body["type"]) == (True, "test")
    listed = run("notify", "list", "--json")
    assert listed.json["targets"][0]["kinds"] == ["run_failed"]
    assert made["secret"] not in listed.text
    failed = run("notify", "test", made["id"])
    assert (failed.status, "failed: Connection refused" in failed.text) == (4, True)
    assert run("notify", "remove", made["id"]).text.startswith(f"removed {made['id']}")
    missing = run("notify", "remove", made["id"], "--json")
    assert (missing.status, missing.json["code"]) == (3, "NOTIFICATION_UNKNOWN")
