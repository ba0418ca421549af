"""What is said to agents, in the forms that they were found to take."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.agents.captured import FILES, agent_of, name_of, payload_in

from commonhold.agents.agent import Agent, Reply
from commonhold.agents.hook_events import (
    NOTHING,
    AboutToEdit,
    AboutToRun,
    Caller,
    Edited,
    Happening,
    HasRead,
    PromptGiven,
    Ran,
    Response,
    SessionBegan,
    SessionEnded,
    Stance,
    SubagentBegan,
    TurnEnded,
    Unconcerned,
)
from commonhold.agents.registry import AGENTS

WHO = Caller("x", "s")
BEGAN = SessionBegan(WHO, "/repo")
ASKED = PromptGiven(WHO, "/repo", "Go")
EDIT = AboutToEdit(WHO, "/repo", "c", "Edit", ())
EDITED = Edited(WHO, "/repo", "c", "Edit", ())
FAILED = Edited(WHO, "/repo", "c", "Edit", (), has_failed=True)
SEEN = HasRead(WHO, "/repo", ("a",))
RUN = AboutToRun(WHO, "/repo", "c", "Bash", "make")
RAN = Ran(WHO, "/repo", "c", "make")
BEGUN = SubagentBegan(WHO, "/repo")
RESTS = TurnEnded(WHO, "/repo")
ENDED = SessionEnded(WHO, "/repo")
OTHER = Unconcerned(WHO, "/repo")
ALL: tuple[Happening, ...] = (BEGAN, ASKED, EDIT, EDITED, FAILED, SEEN, RUN, RAN, BEGUN, RESTS, ENDED, OTHER)

DENY = Response(Stance.DENY, reason="taken")
CONTEXT = Response(context="news")
TROUBLE = Response(reason="not as it was")
NOTICE = Response(notice="see")


def said(reply: Reply) -> Any:
    assert (reply.status, reply.complaint) == (0, "")
    return json.loads(reply.body) if reply.body else None


def before(**output: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **output}}


def context(event: str) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "news"}}


Said = tuple[Happening, Response, Any]
CLAUDE_SHAPED: list[Said] = [
    (EDIT, DENY, before(permissionDecision="deny", permissionDecisionReason="taken")),
    (RUN, DENY, before(permissionDecision="deny", permissionDecisionReason="taken")),
    (EDIT, CONTEXT, context("PreToolUse")),
    (EDITED, TROUBLE, {"decision": "block", "reason": "not as it was"}),
    (EDITED, CONTEXT, context("PostToolUse")),
    (FAILED, CONTEXT, context("PostToolUseFailure")),
    (RAN, CONTEXT, context("PostToolUse")),
    (BEGAN, CONTEXT, context("SessionStart")),
    (ASKED, CONTEXT, context("UserPromptSubmit")),
    (BEGUN, CONTEXT, context("SubagentStart")),
    (RESTS, CONTEXT, None),
    (RESTS, TROUBLE, None),
    (RESTS, NOTICE, {"systemMessage": "see"}),
    (TurnEnded(WHO, "/repo", may_go_on=True), TROUBLE, {"decision": "block", "reason": "not as it was"}),
    (OTHER, CONTEXT, None),
]
ANSWERS: dict[str, list[Said]] = {
    "claude": CLAUDE_SHAPED,
    "vscode": CLAUDE_SHAPED,
    "codex": CLAUDE_SHAPED,
    "gemini": [
        (EDIT, DENY, {"decision": "deny", "reason": "taken"}),
        (RUN, DENY, {"decision": "deny", "reason": "taken"}),
        (EDIT, CONTEXT, None),
        (EDITED, CONTEXT, context("AfterTool")),
        (
            EDITED,
            TROUBLE,
            {"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "not as it was"}},
        ),
        (BEGAN, CONTEXT, context("SessionStart")),
        (ASKED, CONTEXT, context("BeforeAgent")),
        (RESTS, TROUBLE, None),
        (RESTS, NOTICE, {"systemMessage": "see"}),
    ],
    "opencode": [
        (EDIT, DENY, {"deny": "taken"}),
        (RUN, DENY, {"deny": "taken"}),
        (EDIT, CONTEXT, None),
        (EDITED, TROUBLE, {"note": "not as it was"}),
        (ASKED, CONTEXT, {"note": "news"}),
        (RESTS, CONTEXT, None),
    ],
    "copilot": [
        (EDIT, DENY, {"permissionDecision": "deny", "permissionDecisionReason": "taken"}),
        (RUN, DENY, {"permissionDecision": "deny", "permissionDecisionReason": "taken"}),
        (EDIT, CONTEXT, {"additionalContext": "news"}),
        (EDITED, TROUBLE, {"additionalContext": "not as it was"}),
        (BEGAN, CONTEXT, {"additionalContext": "news"}),
        (RESTS, CONTEXT, None),
    ],
    "cursor": [
        (EDIT, DENY, {"permission": "deny", "user_message": "taken", "agent_message": "taken"}),
        (RUN, DENY, {"permission": "deny", "user_message": "taken", "agent_message": "taken"}),
        (EDITED, TROUBLE, {"additional_context": "not as it was"}),
        (BEGAN, CONTEXT, {"additional_context": "news"}),
        (RESTS, CONTEXT, None),
    ],
}


@pytest.mark.parametrize(
    ("name", "happening", "response", "answer"),
    [(name, *case) for name, cases in ANSWERS.items() for case in cases],
)
def test_an_answer_has_the_agents_own_form(name: str, happening: Happening, response: Response, answer: object) -> None:
    assert said(AGENTS[name].write(happening, response)) == answer


def test_every_agent_has_answers() -> None:
    assert sorted(ANSWERS) == sorted(AGENTS)


def test_to_have_no_opinion_is_to_say_nothing() -> None:
    for agent in AGENTS.values():
        for happening in ALL:
            assert agent.write(happening, NOTHING) == Reply()


responses = st.builds(
    Response,
    st.sampled_from(Stance),
    st.text(max_size=9),
    st.text(max_size=9),
    st.text(max_size=9),
)


def decisions(answer: Any) -> list[object]:
    """What an answer decides, in the words of any agent."""
    inner = (answer or {}).get("hookSpecificOutput", {})
    named = ("permissionDecision", "permission", "decision")
    deny = ["deny"] if "deny" in (answer or {}) else []
    return [each[name] for each in (answer or {}, inner) for name in named if name in each] + deny


@given(st.sampled_from(sorted(AGENTS)), st.sampled_from(ALL), responses)
def test_nothing_is_ever_approved_and_what_is_denied_is(name: str, happening: Happening, response: Response) -> None:
    answer = said(AGENTS[name].write(happening, response))
    is_before = isinstance(happening, AboutToEdit | AboutToRun)
    if is_before and response.stance is Stance.DENY:
        assert decisions(answer) == ["deny"]
    else:
        assert decisions(answer) in ([], ["block"])
        assert not is_before or decisions(answer) == []


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_what_cannot_be_decided_is_refused_where_something_is_about_to_happen(file: Path) -> None:
    agent, payload = agent_of(file), payload_in(file)
    reply = agent.refuse(payload, "nobody answers")
    is_before = "Pre" in file.stem or "Before" in file.stem or "pre" in file.stem or ".before" in file.stem
    if is_before and "Agent" not in file.stem.split("-")[0]:
        assert decisions(said(reply)) == ["deny"]
        assert b"nobody answers" in reply.body
    else:
        assert reply.status == 0
        assert decisions(json.loads(reply.body or b"{}")) == []


@pytest.mark.parametrize("agent", AGENTS.values(), ids=lambda agent: agent.name)
def test_a_payload_of_which_nothing_is_known_is_refused(agent: Agent) -> None:
    assert decisions(said(agent.refuse({}, "it is no JSON"))) == ["deny"]


def test_vs_code_is_answered_in_its_own_words_through_copilot() -> None:
    copilot, vscode = AGENTS["copilot"], AGENTS["vscode"]
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/repo", "tool_name": "create_file"}
    happening = copilot.read(payload, "")
    assert copilot.write(happening, DENY) == vscode.write(happening, DENY)
    assert copilot.refuse(payload, "no") == vscode.refuse(payload, "no")
