"""The programs of agents without a person: how each is started on a prompt, and how its session is resumed.

All are to be started with standard input from /dev/null: most of them would read it as a part of the prompt. They print
lines of JSON.
"""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

MOST_PROMPT_BYTES: Final = 120_000
"""The longest prompt that fits into one argument of a program on Linux, with some room."""
PROMPT_FILE: Final = "{prompt_file}"
WORKSPACE: Final = "{workspace}"


@dataclass(frozen=True, slots=True)
class HeadlessAgent:
    """How an agent's program works on a prompt and ends, as data.

    `name` is that of its adapter in `registry.AGENTS`. `start` and `resume` are arguments, in which `{prompt}`,
    `{workspace}`, `{quoted_workspace}` and `{session}` stand for values: `{session}` is the UUID that a new session
    gets, or the id of the session to resume. An agent without `{session}` in `start` chooses that id, and reports it.
    `interactive` are the arguments for a person at a terminal, and `rejoin` those after them that go on with the
    session of an id. `environment` is added to that of the process.
    """

    name: str
    program: str
    start: tuple[str, ...]
    resume: tuple[str, ...]
    interactive: tuple[str, ...]
    rejoin: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    def starting(self, prompt: str, workspace: str, session: str) -> tuple[str, ...]:
        """Return the command that works on a prompt in the folder `workspace`, as the new session of this UUID."""
        return (self.program, *_filled(self.start, prompt, workspace, session))

    def resuming(self, prompt: str, workspace: str, session: str) -> tuple[str, ...]:
        """Return the command that continues the session with this id by a further prompt."""
        return (self.program, *_filled(self.resume, prompt, workspace, session))

    def attending(self, workspace: str, session: str) -> tuple[str, ...]:
        """Return the command for a person who goes on at a terminal; without the id of a session, with a new one."""
        arguments = (*self.interactive, *self.rejoin) if session else self.interactive
        return (self.program, *_filled(arguments, "", workspace, session))

    @property
    def takes_id(self) -> bool:
        """Return whether a new session gets its id from us."""
        return any("{session}" in each for each in self.start)


def _filled(arguments: tuple[str, ...], prompt: str, workspace: str, session: str) -> tuple[str, ...]:
    values = {
        "{prompt}": f" {prompt}" if prompt.startswith("-") else prompt,  # else it would be taken for an option
        "{workspace}": workspace,
        "{quoted_workspace}": json.dumps(workspace, ensure_ascii=False),
        "{session}": session,
    }
    return tuple(_replaced(each, values) for each in arguments)


def _replaced(text: str, values: Mapping[str, str]) -> str:
    """Return a text with values in place of their names; names within a value stay."""
    return re.sub("|".join(map(re.escape, values)), lambda found: values[found[0]], text)


def line_of_command(template: str, prompt_file: str, workspace: str) -> str:
    """Return a line of shell: a template with the paths, quoted, in place of `{prompt_file}` and `{workspace}`."""
    return _replaced(template, {PROMPT_FILE: shlex.quote(prompt_file), WORKSPACE: shlex.quote(workspace)})


_CLAUDE: Final = ("-p", "{prompt}", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
# Codex leaves out hooks, and says little about it, unless its user has trusted them and the folder: once, they are.
_CODEX: Final = (
    *("exec", "--json", "-s", "workspace-write", "-C", "{workspace}", "--skip-git-repo-check"),
    *("--dangerously-bypass-hook-trust", "-c", 'projects={{quoted_workspace}={trust_level="trusted"}}'),
)
_GEMINI: Final = ("-p", "{prompt}", "-o", "stream-json", "--approval-mode", "yolo", "--skip-trust")
_OPENCODE: Final = ("run", "--format", "json", "--dir", "{workspace}", "--auto")
_COPILOT: Final = (*("-p", "{prompt}", "--output-format", "json", "--allow-all", "--no-ask-user", "--no-auto-update"),)
_ALL: Final = (
    HeadlessAgent(
        "claude",
        "claude",
        (*_CLAUDE, "--session-id", "{session}"),
        (*_CLAUDE, "--resume", "{session}"),
        (),
        ("--resume", "{session}"),
    ),
    HeadlessAgent(
        "codex",
        "codex",
        (*_CODEX, "{prompt}"),
        (*_CODEX, "resume", "{session}", "{prompt}"),
        ("-C", "{workspace}"),
        ("resume", "{session}"),
    ),
    HeadlessAgent(
        "gemini",
        "gemini",
        (*_GEMINI, "--session-id", "{session}"),
        (*_GEMINI, "-r", "{session}"),
        (),
        ("-r", "{session}"),
    ),
    HeadlessAgent(
        "opencode",
        "opencode",
        (*_OPENCODE, "{prompt}"),
        (*_OPENCODE, "-s", "{session}", "{prompt}"),
        ("{workspace}",),
        ("-s", "{session}"),
    ),
    HeadlessAgent(
        "copilot",
        "copilot",
        (*_COPILOT, "--session-id={session}"),
        (*_COPILOT, "--resume={session}"),
        (),
        ("--resume={session}",),
        # Without it `copilot -p` runs no hooks of the repository.
        {"GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS": "true"},
    ),
)
HEADLESS: Final[Mapping[str, HeadlessAgent]] = {each.name: each for each in _ALL}
