"""The command lines of agents without a person: complete, and with the prompt as it was given."""

import re
import shlex

import pytest

from commonhold.agents.headless import HEADLESS, HeadlessAgent, line_of_command
from commonhold.agents.registry import AGENTS
from commonhold.agents.setups import SETUPS

PROMPT = "rename {session} to {workspace}; don't --stop"
SESSION = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
each_agent = pytest.mark.parametrize("agent", HEADLESS.values(), ids=lambda agent: agent.name)


@each_agent
def test_each_has_an_adapter_and_is_found_by_the_same_program(agent: HeadlessAgent) -> None:
    assert agent.name in AGENTS
    assert agent.program in SETUPS[agent.name].programs


@each_agent
def test_a_prompt_is_one_argument_and_stays_as_it_is(agent: HeadlessAgent) -> None:
    for words in (agent.starting(PROMPT, "/work", SESSION), agent.resuming(PROMPT, "/work", SESSION)):
        assert words[0] == agent.program
        assert words.count(PROMPT) == 1
        assert not [word for word in words if re.search(r"\{\w+\}", word) and word != PROMPT]


@each_agent
def test_a_prompt_that_begins_with_a_dash_is_no_option(agent: HeadlessAgent) -> None:
    words = agent.starting("--help me", "/work", SESSION)
    assert " --help me" in words
    assert "--help me" not in words


@each_agent
def test_a_resumed_session_is_named(agent: HeadlessAgent) -> None:
    words = agent.resuming("go on", "/work", SESSION)
    assert [word for word in words if SESSION in word]


def test_the_command_lines() -> None:
    lines = [shlex.join(agent.starting("P", "/ws", "ID")) for agent in HEADLESS.values()]
    assert lines == [
        "claude -p P --output-format stream-json --verbose --dangerously-skip-permissions --session-id ID",
        (
            "codex exec --json -s workspace-write -C /ws --skip-git-repo-check --dangerously-bypass-hook-trust"
            """ -c 'projects={"/ws"={trust_level="trusted"}}' P"""
        ),
        "gemini -p P -o stream-json --approval-mode yolo --skip-trust --session-id ID",
        "opencode run --format json --dir /ws --auto P",
        "copilot -p P --output-format json --allow-all --no-ask-user --no-auto-update --session-id=ID",
    ]


def test_the_command_lines_for_a_person_at_a_terminal() -> None:
    lines = [shlex.join(agent.attending("/ws", "ID")) for agent in HEADLESS.values()]
    assert lines == [
        "claude --resume ID",
        "codex -C /ws resume ID",
        "gemini -r ID",
        "opencode /ws -s ID",
        "copilot --resume=ID",
    ]
    lines = [shlex.join(agent.attending("/ws", "")) for agent in HEADLESS.values()]
    assert lines == ["claude", "codex -C /ws", "gemini", "opencode /ws", "copilot"]


def test_paths_in_the_line_of_any_command_are_quoted() -> None:
    line = line_of_command("ai --cwd {workspace} < {prompt_file}; echo {prompt}", "/t/it's", "/a {prompt_file}")
    assert shlex.split(line) == ["ai", "--cwd", "/a {prompt_file}", "<", "/t/it's;", "echo", "{prompt}"]
