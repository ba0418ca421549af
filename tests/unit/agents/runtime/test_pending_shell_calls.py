"""Whose a script of a shell is, by what hooks have told before."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.agents.hook_events import AboutToRun, Caller
from commonhold.agents.runtime.pending_shell_calls import MOST, PendingShellCalls, command_in

SESSION = "claude:s"
COMMANDS = ("make", 'echo "it\'s" && x', "a | b", "cat <<'X' | sort\na 'b'\nX", "sed -n 's/eval/x/p' f\n")


def about(command: str, part: str = "", session: str = "s") -> AboutToRun:
    return AboutToRun(Caller("claude", session, part), "/repo", "c", "Bash", command)


def script(command: str) -> str:
    return f"source '/a b/s.sh' 2>/dev/null || true && eval {shlex.quote(command)} < /dev/null && pwd -P >| /tmp/x-cwd"


def claimed(awaited: PendingShellCalls, command: str) -> tuple[str, str]:
    """Whose the command is that a shell of the session comes with, in a script."""
    return awaited.claim(SESSION, command_in(script(command)))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_was_told_of_is_whose_hook_told_it(command: str) -> None:
    awaited = PendingShellCalls()
    awaited.note(about("other"))
    awaited.note(about(command, "part"))
    assert claimed(awaited, command.strip()) == (f"{SESSION}/part", command)


def test_it_is_known_again_with_its_input_closed() -> None:
    awaited = PendingShellCalls()
    for part in ("one", "two"):
        awaited.note(about(f"cat {part} | sort", part))
    assert claimed(awaited, "cat one < /dev/null | sort") == (f"{SESSION}/one", "cat one | sort")


def test_the_newest_of_two_alike_comes_first_and_each_but_once() -> None:
    awaited = PendingShellCalls()
    for part in ("one", "two"):
        awaited.note(about("make", part))
    holders = [claimed(awaited, "make")[0] for _ in range(3)]
    assert holders == [f"{SESSION}/two", f"{SESSION}/one", SESSION]


def test_what_nobody_told_of_is_the_sessions_or_its_only_parts_that_waits() -> None:
    awaited = PendingShellCalls()
    awaited.note(about("make", "part", "another"))
    assert claimed(awaited, "ls") == (SESSION, "ls")
    awaited.note(about("make", "part"))
    assert claimed(awaited, "ls") == (f"{SESSION}/part", "ls")
    awaited.note(about("make"))
    assert claimed(awaited, "ls") == (SESSION, "ls")


def test_where_the_shell_names_no_session_it_is_the_newest_of_the_process_that_started_it() -> None:
    awaited = PendingShellCalls()
    assert awaited.session_of("gemini", "7:1") == "gemini:7:1"
    for session, process in (("s", "7:1"), ("t", "8:1"), ("u", "7:1")):
        awaited.note(AboutToRun(Caller("gemini", session, "", process), "/repo", "", "run_shell_command", "make"))
    found = [awaited.session_of("gemini", each) for each in ("7:1", "8:1", "7:2")]
    assert found == ["gemini:u", "gemini:t", "gemini:7:2"]
    assert awaited.session_of("copilot", "7:1") == "copilot:7:1"


def test_no_more_is_kept_than_can_be_awaited() -> None:
    awaited = PendingShellCalls()
    for number in range(MOST + 1):
        awaited.note(about(f"make {number}", f"part{number}"))
        awaited.note(about("make", "", f"s{number}"))
    assert claimed(awaited, "make 0") == (SESSION, "make 0")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_the_command_in_a_script_is_found_whatever_it_is(command: str) -> None:
    assert command_in(script(command)) == command


@given(st.text())
def test_of_another_script_it_is_all_of_it(text: str) -> None:
    assert command_in(text) == text or "eval" in text
