"""Reports that real agents printed, driven by a scripted model, and reports of failures; a broken line is no error."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

from commonhold.agents.headless import HEADLESS
from commonhold.agents.headless_reports import AgentReport, report_of
from commonhold.kernel.run import TokenUsage

PRINTED = {name: Path(__file__).parents[2].joinpath("agents", "reports", f"{name}.jsonl") for name in HEADLESS}
SESSIONS = {
    "claude": "61687880-db3a-4bf9-b63c-2a804b3ab098",
    "codex": "01a22a98-a4ae-7173-bdd8-3ea1ad395da8",
    "gemini": "c4365f44-a0de-49d7-9b65-4f923f23f295",
    "opencode": "ses_dd567fb13ffe71DZFxfxD04ZGF",
    "copilot": "98f18a56-fcb6-4f36-b855-ea8a934126c4",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
USED = {"claude": TokenUsage(30, 15, 0.000315), "copilot": TokenUsage()}


def lines(*events: dict[str, Any]) -> list[bytes]:
    return [json.dumps(each).encode() for each in events]


@pytest.mark.parametrize("name", HEADLESS)
def test_the_report_of_a_real_agent(name: str) -> None:
    report = report_of(name, PRINTED[name].read_bytes().splitlines())
    assert report == AgentReport(SESSIONS[name], USED.get(name, TokenUsage(30, 15)), "Done.", is_over=True)


@pytest.mark.parametrize("name", HEADLESS)
def test_an_agent_that_was_ended_is_not_over(name: str) -> None:
    printed = PRINTED[name].read_bytes().splitlines()
    assert not report_of(name, printed[:-1]).is_over


@pytest.mark.parametrize(
    ("name", "events", "why"),
    [
        ("claude", [{"type": "result", "subtype": "error_max_turns", "is_error": True}], "error_max_turns"),
        ("claude", [{"type": "result", "is_error": True, "result": "no credit"}], "no credit"),
        ("codex", [{"type": "turn.failed", "error": {"message": "rate limit"}}], "rate limit"),
        ("gemini", [{"type": "result", "status": "error", "error": {"message": "no quota"}}], "no quota"),
        ("gemini", [{"type": "result", "status": "error"}], "it failed"),
        ("opencode", [{"type": "error", "error": {"name": "APIError", "data": {"message": "no key"}}}], "no key"),
        ("copilot", [{"type": "session.error", "data": {"message": "no access"}}, {"type": "result"}], "no access"),
    ],
)
def test_a_failure_is_reported_with_its_reason(name: str, events: list[dict[str, Any]], why: str) -> None:
    report = report_of(name, lines(*events))
    assert (report.error, report.is_over) == (why, True)


def test_usage_that_is_no_number_counts_as_none() -> None:
    used = {"input_tokens": "7", "output_tokens": -3, "cache_read_input_tokens": True}
    report = report_of("claude", lines({"type": "result", "usage": used, "total_cost_usd": 1e999}))
    assert report.usage == TokenUsage()


@examples(0.3)
@given(st.sampled_from([*HEADLESS, "another"]), JSON | st.binary(max_size=30))
def test_no_line_raises(name: str, line: Any) -> None:
    printed = line if isinstance(line, bytes) else json.dumps(line).encode()
    assert isinstance(report_of(name, [printed]), AgentReport)


@examples(0.3)
@given(
    st.sampled_from(sorted(HEADLESS)),
    st.integers(0, 40),
    st.sampled_from(["type", "usage", "part", "data", "item", "stats", "error", "result", "tokens"]),
    JSON,
)
def test_no_spoiled_event_raises(name: str, at: int, field: str, value: Any) -> None:
    printed = PRINTED[name].read_bytes().splitlines()
    event = json.loads(printed[at % len(printed)])
    event[field] = value
    assert isinstance(report_of(name, [*printed[:at], json.dumps(event).encode()]), AgentReport)
