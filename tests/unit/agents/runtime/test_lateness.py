"""What is said where a hook is not answered in time."""

import json
from pathlib import Path

import pytest

from commonhold.agents.hook_events import (
    NOTHING,
    AboutToEdit,
    AboutToRun,
    Caller,
    Happening,
    IntendedWrite,
    Removed,
    Swap,
    Whole,
)
from commonhold.agents.registry import AGENTS
from commonhold.agents.runtime.calls_seen import CallsSeen
from commonhold.agents.runtime.hooks import Hooks
from commonhold.agents.runtime.lateness import LARGE_BYTES, why_late

WHO = Caller("claude", "one")
BIG = "x" * LARGE_BYTES


def edit(folder: Path, *wishes: IntendedWrite) -> AboutToEdit:
    return AboutToEdit(WHO, str(folder), "c", "Edit", wishes)


@pytest.mark.parametrize(
    "wish", [Swap("big.py", "a", "b"), Removed("big.py"), Whole("big.py", "a"), Whole("new.py", BIG)], ids=repr
)
def test_a_large_file_is_named_and_left_to_a_command(tmp_path: Path, wish: IntendedWrite) -> None:
    (tmp_path / "big.py").write_text(BIG, encoding="utf-8")
    told = why_late(edit(tmp_path, Swap("small.py", "a", "b"), wish), 25.0)
    assert told.startswith(f"it was not decided within 25 seconds, since the effects of a change to {wish.path} take")
    assert f"{LARGE_BYTES:,} bytes. Next: change it with a shell command that names it" in told


def test_what_is_no_matter_of_size_is_tried_again(tmp_path: Path) -> None:
    others: list[Happening] = [
        edit(tmp_path),
        edit(tmp_path, Swap("gone.py", "a", "b"), Removed("\0")),
        AboutToRun(WHO, str(tmp_path), "c", "Bash", "make"),
    ]
    assert [why_late(each, 25.0).partition(" Next: ")[2] for each in others] == ["try again in a moment"] * 3


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (
            {"tool_name": "Write", "tool_input": {"file_path": "/b.py", "content": BIG}},
            "the effects of a change to /b.py",
        ),
        ({"tool_name": "Bash", "tool_input": {"command": "make"}}, "Next: try again"),
        ({"session_id": 3}, "cannot be read"),
    ],
)
def test_a_hook_that_is_late_blocks_and_says_why(payload: dict[str, object], why: str) -> None:
    told = {"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", **payload}
    late = Hooks(AGENTS, lambda _: NOTHING, CallsSeen()).late("claude", json.dumps(told).encode(), "", 25.0)
    decision = json.loads(late.body)["hookSpecificOutput"]
    assert decision["permissionDecision"] == "deny"
    assert why in decision["permissionDecisionReason"]
