"""`commonhold session list`: by state, task and tenant, and in pages. No daemon runs here, so no session begins."""

from pathlib import Path

import pytest
from tests.e2e.cli_driver import Call

import commonhold


@pytest.fixture
def ids(root: Path) -> list[str]:
    """Sessions of two tenants; the last one was cancelled."""
    with commonhold.open(str(root), agent="ann") as hold:
        tenants = ("one", "two", "one", "two")
        started = [hold.start_managed_session("do it", agent="agent {prompt_file}", tenant=each) for each in tenants]
        found = [answer.sessions[0].record.id for answer in started]
        hold.change_managed_session(found[-1], commonhold.SessionAction.CANCEL, note="not needed")
    return found


def listed(run: Call, *words: str) -> list[str]:
    return [each["id"] for each in run("session", "list", "--json", *words).json["sessions"]]


def test_a_list_is_of_a_state_and_a_tenant(run: Call, ids: list[str]) -> None:
    assert listed(run) == ids[:3]
    assert listed(run, "--tenant", "two") == ids[1:2]
    assert listed(run, "--all", "--tenant", "two") == [ids[1], ids[3]]
    assert listed(run, "--state", "cancelled") == ids[3:]
    assert listed(run, "--task", "t9") == []


def test_an_empty_list_does_not_name_the_call_that_printed_it(run: Call) -> None:
    assert "session list --all" in run("session", "list").text
    assert "session list --all" in run("session", "list", "--all", "--tenant", "two").text
    assert run("session", "list", "--all").text == "there is no session: `commonhold session start` begins one\n"
    assert "--all" not in run("queue", "list", "--all").text


def test_a_list_comes_in_pages(run: Call, ids: list[str]) -> None:
    first = run("session", "list", "--limit", "2", "--json").json
    assert [each["id"] for each in first["sessions"]] == ids[1:3]
    assert first["has_older"]
    assert f"--before {ids[1]}" in run("session", "list", "--limit", "2").text
    last = run("session", "list", "--limit", "2", "--before", ids[1], "--json").json
    assert [each["id"] for each in last["sessions"]] == ids[:1]
    assert not last["has_older"]
    unknown = run("session", "list", "--before", "s999")
    assert unknown.status != 0
    assert "SESSION_UNKNOWN" in unknown.err
