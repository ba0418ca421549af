"""docs/adding-an-agent.md names what there is, and its example is an agent."""

import re
from pathlib import Path

from commonhold.agents import hook_events, tools
from commonhold.agents.agent import Agent
from commonhold.agents.hook_events import AboutToEdit, Ends, Manner, Response, Stance, Swap

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "adding-an-agent.md").read_text(encoding="utf-8")


def test_the_example_is_an_agent() -> None:
    found: dict[str, object] = {}
    exec(TEXT.split("```python")[1].split("```")[0], found)  # noqa: S102 - our own page
    agent = found["SCRIBE"]
    assert isinstance(agent, Agent)
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/repo", "tool_name": "edit"}
    happening = agent.read(payload | {"tool_input": {"path": "a", "old": "x", "new": "y"}}, "")
    assert isinstance(happening, AboutToEdit)
    assert happening.wishes == (Swap("a", "x", "y", manner=Manner(ends=Ends.ANY)),)
    assert happening.caller.holder == "scribe:s"
    assert b'"deny"' in agent.write(happening, Response(Stance.DENY, "taken")).body


def test_what_it_names_is_there() -> None:
    known = {"name", "title", "trouble", "refuse", "Unreadable", "wraps_shells", "shuts_off_shells"}
    words = set(re.findall(r"`(\w+)`", TEXT)) - known
    assert {word for word in words if not hasattr(tools, word) and not hasattr(hook_events, word)} == set()
    files = set(re.findall(r"`((?:src|tests|agents|app)/[\w./]+)`", TEXT))
    missing = {file for file in files if not (ROOT / file).exists() and not (ROOT / "src/commonhold" / file).exists()}
    assert missing <= {"tests/agents/payloads/NAME/"}
