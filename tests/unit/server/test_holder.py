"""Whose a call is, from what each client sends."""

import subprocess
from pathlib import Path

import pytest

from commonhold.agents.runtime.calls_seen import MOST, CallsSeen
from commonhold.kernel.errors import CommonholdError
from commonhold.server.holder import Origin, Piped, Posted, Seat

pytestmark = pytest.mark.slow

CODEX = "codex-mcp-client"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


def test_a_name_that_was_given_goes_before_all_others() -> None:
    assert Piped(".", "mine")(Origin({"sessionId": "s"}, client=CODEX)) == Seat(".", "mine")


@pytest.mark.parametrize(
    ("origin", "holder"),
    [
        (Origin({"sessionId": "s", "threadId": "t"}), "s"),
        (Origin({"threadId": "t"}), "t"),
        (Origin({"sessionId": "s", "threadId": "t"}, client=CODEX), "codex:s"),
    ],
)
def test_a_call_names_its_session_in_the_words_of_the_hooks(origin: Origin, holder: str) -> None:
    assert Piped(".", None)(origin).holder == holder


def test_a_made_up_holder_stays_the_same() -> None:
    seat_of = Piped(".", None)
    made_up = seat_of(Origin())
    assert made_up.holder is not None
    assert made_up.holder.startswith("mcp-")
    assert seat_of(Origin({"sessionId": 3})) == seat_of(Origin({"sessionId": ""})) == made_up
    assert Piped(".", None)(Origin()) != made_up


@pytest.mark.parametrize(
    ("origin", "holder"),
    [
        (Origin(headers={"x-commonhold-agent": "mine", "mcp-session-id": "m"}), "mine"),
        (Origin({"claudecode/toolUseId": "call-1", "sessionId": "s"}, {"mcp-session-id": "m"}), "claude:one/sub"),
        (Origin({"claudecode/toolUseId": "call-2"}, {"mcp-session-id": "m"}), "mcp-m"),
        (Origin({"claudecode/toolUseId": 3}), None),
        (Origin({"sessionId": "s"}, {"mcp-session-id": "m"}, CODEX), "codex:s"),
        (Origin(), None),
    ],
)
def test_over_http_a_call_is_its_sessions_and_nobodys_where_nothing_tells(
    root: Path, origin: Origin, holder: str | None
) -> None:
    seen = CallsSeen()
    seen.note({"tool_use_id": "call-1"}, "claude:one/sub")
    assert Posted(str(root), seen)(origin) == Seat(str(root), holder)


def test_a_client_may_name_another_working_tree_of_the_repository_and_no_other_folder(
    root: Path, tmp_path: Path
) -> None:
    seat_of = Posted(str(root), CallsSeen())
    (root / "below").mkdir()
    assert seat_of(Origin(headers={"x-commonhold-folder": str(root / "below")})).path == str(root)
    for folder in (tmp_path, tmp_path / "gone"):
        with pytest.raises(CommonholdError):
            seat_of(Origin(headers={"x-commonhold-folder": str(folder)}))


def test_a_name_that_is_none_is_not_taken(root: Path) -> None:
    with pytest.raises(CommonholdError, match="holder"):
        Posted(str(root), CallsSeen())(Origin(headers={"x-commonhold-agent": " "}))


def test_only_the_newest_calls_are_remembered() -> None:
    seen = CallsSeen()
    for number in range(MOST + 1):
        seen.note({"tool_use_id": f"call-{number}"}, "ann")
    seen.note({"tool_use_id": 7}, "ann")
    seen.note({}, "ann")
    assert [seen.holder("call-0"), seen.holder("call-1"), seen.holder(7)] == [None, "ann", None]
