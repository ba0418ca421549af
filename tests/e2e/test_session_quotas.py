"""Quotas of tenants: with a daemon that runs sessions, and where a session is refused or shown."""

import sys
from pathlib import Path

import pytest
from tests.e2e.cli_driver import Call
from tests.e2e.test_sessions import opened
from tests.patience import until

from commonhold import SessionState

START = ("session", "start", "do it", "--with", "agent {prompt_file}", "--tenant", "acme")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="lost processes are found in /proc")
def test_a_tenant_at_its_quota_waits_and_the_other_one_works(tmp_path: Path) -> None:
    with opened(tmp_path) as office:
        (office.root / "commonhold.toml").write_text("[tenants.acme]\nmax_sessions = 1\n", encoding="utf-8")
        first = office.start("{go}", tenant="acme")
        gate = office.gate
        office.until(first, SessionState.RUNNING)
        second = office.start("true", tenant="acme")
        for _ in range(2):
            office.until(office.start("true", tenant="other"), SessionState.AWAITING_REVIEW)
        (view,) = office.hold.managed_sessions(second).sessions
        assert (view.record.state, view.why) == (SessionState.QUEUED, "tenant acme runs 1 of its 1 sessions")
        gate.touch()
        office.until(second, SessionState.AWAITING_REVIEW)
        until(lambda: not office.supervisors(), what="supervisors end")


def test_a_session_that_never_fits_is_refused_with_the_way_out(root: Path, run: Call) -> None:
    (root / "commonhold.toml").write_text('[tenants.acme]\nmemory = "2g"\ncpus = 2\n', encoding="utf-8")
    without = run(*START)
    assert without.status == 3
    assert "the quota of tenant acme is 2g of memory, and it has no --memory [SESSION_INVALID]" in without.err
    assert "give it --memory, at most 2g" in without.err
    assert "and it asks for 2560m" in run(*START, "--memory", "2560m").err
    assert "2 processors, and it has no --cpus" in run(*START, "--memory", "1g").err
    assert "give it --cpus, at most 2" in run(*START, "--memory", "1g", "--cpus", "2.5").err
    assert run(*START, "--memory", "2g", "--cpus", "2").status == 0


def test_list_and_show_say_why_a_session_waits(root: Path, run: Call) -> None:
    ids = [run(*START, "--memory", "1g", "--json").json["sessions"][0]["id"] for _ in range(2)]
    (root / "commonhold.toml").write_text("[tenants.acme]\nmax_sessions = 0\n", encoding="utf-8")
    listed = run("session", "list").text.splitlines()
    assert [line.partition("do it ")[2] for line in listed] == [
        "(tenant acme runs 0 of its 0 sessions)",
        f"({ids[0]} goes first, and waits: tenant acme runs 0 of its 0 sessions)",
    ]
    assert "  tenant acme runs 0 of its 0 sessions\n" in run("session", "show", ids[0]).text
    (root / "commonhold.toml").write_text('[tenants."*"]\nmemory = "512m"\n', encoding="utf-8")
    assert run("session", "show", ids[1], "--json").json["sessions"][0]["waits"] == (
        "the quota of tenant acme is 512m of memory, and it asks for 1g"
    )
    unnamed = run(*START[:-2])
    assert "the quota of the tenant without a name is 512m of memory" in unnamed.err
