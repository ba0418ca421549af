"""The output of agents as events: what real agents printed, errors of limits, and output that is cut or spoiled."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.unit.agents.test_headless_reports import JSON, PRINTED

from commonhold.agents import headless_events
from commonhold.agents.headless import HEADLESS
from commonhold.agents.headless_events import AgentEvent, EventKind, EventParser
from commonhold.agents.headless_reports import report_of
from commonhold.kernel.run import TokenUsage

NAMES = (*HEADLESS, "my-agent {prompt_file}")
TOOLS = {
    "claude": [("tool_call", "Read", "/repo/app.py"), ("file_change", "Edit", "/repo/app.py")],
    "codex": [("tool_call", "shell", "/bin/bash -lc 'cat app.py'"), ("file_change", "update", "/repo/app.py")],
    "gemini": [("tool_call", "read_file", "/repo/app.py"), ("file_change", "replace", "/repo/app.py")],
    "opencode": [("tool_call", "read", "/repo/app.py"), ("file_change", "edit", "/repo/app.py")],
    "copilot": [("tool_call", "view", "/repo/app.py"), ("file_change", "edit", "/repo/app.py")],
}


def events_of(agent: str, *pieces: bytes, at: int = 0) -> list[AgentEvent]:
    parser = EventParser(agent, at)
    found = [event for piece in pieces for event in parser.feed(piece)]
    return [*found, *parser.finish()]


def printed(*events: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in events)


@pytest.mark.parametrize("name", HEADLESS)
def test_the_events_of_a_real_agent(name: str) -> None:
    found = events_of(name, PRINTED[name].read_bytes())
    tools = [(each.kind.value, each.tool, each.text) for each in found if each.tool]
    assert tools == TOOLS[name]
    assert [each.path for each in found if each.kind is EventKind.FILE_CHANGE] == ["/repo/app.py"]
    assert [each.text for each in found if each.is_message] == ["Done."]
    used = sum((each.usage for each in found), TokenUsage())
    assert (used.tokens_in, used.tokens_out) == ((0, 0) if name == "copilot" else (30, 15))
    assert found[-1].kind is EventKind.END
    assert [each.kind for each in found].count(EventKind.START) == 1
    assert not [each for each in found if each.kind is EventKind.ERROR]


def test_each_event_names_the_bytes_of_its_line() -> None:
    whole = PRINTED["claude"].read_bytes()
    found = events_of("claude", whole, at=100)
    for each in found:
        assert json.loads(whole[each.at - 100 : each.next_at - 100])
    assert all(one.next_at <= two.at or one.at == two.at for one, two in pairwise(found))


@examples(0.5)
@given(st.data())
def test_any_cut_of_the_output_gives_the_same_events(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    lines = PRINTED.get(name, PRINTED["claude"]).read_bytes().splitlines(keepends=True)
    junk = st.sampled_from(
        [b"warning: \xc3\xa9t\xc3\xa9 \xf0\x9f\x8c\x8a\r\n", b"\n", b'{"type": "te\n', b"\xff\xfe\x00\r", b"[1]\n"]
    )
    whole = b"".join(data.draw(st.lists(st.sampled_from(lines) | junk, max_size=8)))
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=12).map(sorted))
    pieces = [whole[one:two] for one, two in pairwise([0, *cuts, len(whole)])]
    assert events_of(name, *pieces) == events_of(name, whole)


@examples(0.5)
@given(
    st.sampled_from(NAMES),
    st.lists(st.binary(max_size=40) | JSON.map(lambda each: json.dumps(each).encode()), max_size=5),
)
def test_no_output_raises_and_each_text_can_be_printed(name: str, lines: list[bytes]) -> None:
    for each in events_of(name, b"\n".join(lines)):
        (each.text + each.path + each.tool + each.session).encode()


FIELDS = ["type", "error", "message", "content", "usage", "modelUsage", "part", "item", "data", "stats", "timestamp"]


@examples(0.5)
@given(st.sampled_from(sorted(HEADLESS)), st.integers(0, 40), st.sampled_from(FIELDS), JSON)
def test_no_spoiled_event_raises(name: str, at: int, field: str, value: Any) -> None:
    lines = PRINTED[name].read_bytes().splitlines()
    event = json.loads(lines[at % len(lines)])
    events_of(name, printed(event | {field: value}))
    if event.get("item") or event.get("part") or event.get("data"):
        outer = next(each for each in ("item", "part", "data") if event.get(each))
        events_of(name, printed(event | {outer: event[outer] | {field: value}}))


def test_output_of_another_form_is_text() -> None:
    lines = b'npm warn old\n{"level": 3}\n[1]\n{"type": "nothing known"}\n\nlast'
    assert [each.text for each in events_of("claude", lines)] == ["npm warn old", '{"level": 3}', "[1]", "last"]
    assert not any(each.is_message for each in events_of("claude", lines))


def test_a_program_that_is_no_known_agent_prints_lines() -> None:
    found = events_of("make {prompt_file}", b'{"type": "result"}\n\n  two\r\n')
    assert [(each.kind, each.text) for each in found] == [
        (EventKind.TEXT, '{"type": "result"}'),
        (EventKind.TEXT, ""),
        (EventKind.TEXT, "  two"),
    ]


def test_of_a_line_that_is_too_long_only_the_length_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headless_events, "MOST_LINE_BYTES", 10)
    pieces = (b"0123456789\n0123", b"456789", b"0\nnext")
    expected = ["0123456789", "(a line of 12 bytes)", "next"]
    assert [each.text for each in events_of("sh", *pieces)] == expected
    assert [each.text for each in events_of("sh", b"".join(pieces))] == expected


def test_a_count_that_other_programs_could_not_read_is_none() -> None:
    (end,) = events_of("claude", printed({"type": "result", "usage": {"input_tokens": 10**400}}))
    assert end.kind is EventKind.END


def test_half_a_character_is_escaped() -> None:
    (said,) = events_of("opencode", b'{"type": "text", "part": {"text": "a\\ud83d"}}')
    assert said.text == "a\\ud83d"


def test_names_of_tools_can_be_encoded_and_a_turn_that_stopped_by_itself_is_a_success() -> None:
    (call,) = events_of("opencode", b'{"type": "tool_use", "part": {"tool": "a\\ud83d", "state": {"input": {}}}}')
    assert call.tool == "a\\ud83d"
    (end,) = events_of("opencode", b'{"type": "step_finish", "part": {"reason": "stop"}}')
    assert (end.kind, end.is_success) == (EventKind.END, True)


def test_usage_of_all_models_and_of_the_cache() -> None:
    models = {
        "opus": {"inputTokens": 2, "outputTokens": 3, "cacheReadInputTokens": 100, "cacheCreationInputTokens": 10},
        "haiku": {"inputTokens": 5, "outputTokens": 1},
    }
    lines = printed({"type": "result", "usage": {"input_tokens": 2}, "modelUsage": models, "total_cost_usd": 0.5})
    assert report_of("claude", lines.splitlines()).usage == TokenUsage(117, 4, 0.5, 100)
    codex = printed(
        {"type": "turn.completed", "usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}}
    )
    assert report_of("codex", codex.splitlines()).usage == TokenUsage(9, 2, 0.0, 4)


RESULT = {"type": "result", "subtype": "success", "is_error": True}
REJECTED = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_796_000_000}}
LIMITED: list[tuple[str, list[dict[str, Any]], float | None]] = [
    ("claude", [{**RESULT, "result": "Claude AI usage limit reached|1762952400"}], None),
    ("claude", [REJECTED, {**RESULT, "result": "You've hit your limit · resets 3pm (Europe/Berlin)"}], 1_796_000_000.0),
    ("claude", [{**RESULT, "result": "API Error", "api_error_status": 429}], None),
    ("claude", [{"type": "assistant", "error": "rate_limit"}, {**RESULT, "result": "Wait"}], None),
    (
        "codex",
        [{"type": "turn.failed", "error": {"message": "You've hit your usage limit. Try again at 3:05 PM."}}],
        None,
    ),
    ("codex", [{"type": "error", "message": "exceeded retry limit, last status: 429 Too Many Requests"}], None),
    ("gemini", [{"type": "result", "status": "error", "error": {"type": "TerminalQuotaError", "message": "no"}}], None),
    (
        "gemini",
        [{"type": "result", "status": "error", "error": {"message": '[API Error: {"code": 429, "message": "x"}]'}}],
        None,
    ),
    (
        "opencode",
        [
            {
                "type": "error",
                "timestamp": 1_796_010_943_000,
                "error": {
                    "name": "APIError",
                    "data": {"message": "Slow", "statusCode": 429, "responseHeaders": {"retry-after": "30"}},
                },
            }
        ],
        1_796_010_973.0,
    ),
    ("copilot", [{"type": "session.error", "data": {"errorType": "quota", "message": "x"}}, {"type": "result"}], None),
]


@pytest.mark.parametrize(("name", "events", "until"), LIMITED)
def test_an_error_that_says_that_the_account_is_at_a_limit(
    name: str, events: list[dict[str, Any]], until: float | None
) -> None:
    limit = report_of(name, printed(*events).splitlines()).limit
    assert limit is not None
    assert limit.until == until


@pytest.mark.parametrize(
    ("name", "events"),
    [
        (
            "claude",
            [{"type": "assistant", "message": {"content": [{"type": "text", "text": "429: usage limit reached|1"}]}}],
        ),
        ("claude", [{"type": "result", "is_error": False, "result": "I raised the rate limit: error 429"}]),
        ("claude", [REJECTED, {"type": "result", "is_error": False, "result": "Done by overage."}]),
        (
            "claude",
            [REJECTED, {"type": "assistant", "message": {}}, {**RESULT, "result": "", "subtype": "error_max_turns"}],
        ),
        ("codex", [{"type": "error", "message": "rate limit; retrying"}, {"type": "turn.completed"}]),
        ("codex", [{"type": "turn.failed", "error": {"message": "syntax error in line 429 of app.py"}}]),
        ("gemini", [{"type": "error", "severity": "warning", "message": "quota is low"}]),
        (
            "copilot",
            [{"type": "session.error", "data": {"errorType": "rate_limit"}}, {"type": "result", "exitCode": 0}],
        ),
        (
            "opencode",
            [{"type": "error", "error": {"data": {"statusCode": 429}}}, {"type": "text", "part": {"text": "On."}}],
        ),
        ("sh", [{**RESULT, "result": "usage limit reached|1762952400"}]),
    ],
)
def test_other_words_say_nothing_about_limits(name: str, events: list[dict[str, Any]]) -> None:
    assert report_of(name, printed(*events).splitlines()).limit is None
