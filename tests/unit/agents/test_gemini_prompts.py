"""What Gemini CLI's prompts are without what hooks have told."""

import pytest

from commonhold.agents.gemini import read
from commonhold.agents.hook_events import PromptGiven

PROMPTS = [
    ("Change a.py", "Change a.py"),
    ("<hook_context>others\nare here</hook_context>\n\nChange a.py", "Change a.py"),
    ("Explain <hook_context>x</hook_context>", "Explain <hook_context>x</hook_context>"),
]


@pytest.mark.parametrize(("sent", "asked"), PROMPTS)
def test_what_hooks_told_is_not_what_a_person_asked_for(sent: str, asked: str) -> None:
    payload = {"session_id": "s", "cwd": "/repo", "hook_event_name": "BeforeAgent", "prompt": sent}
    happening = read(payload, "")
    assert isinstance(happening, PromptGiven)
    assert happening.prompt == asked
