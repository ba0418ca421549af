"""The commands by which an agent's hooks and its MCP client call us, and how we recognize them as ours."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from commonhold.agents import shell_prefix
from commonhold.agents.hook_tables import Hook

KNOCK: Final = "commonhold/client/hook_program.py"
_HOOK_PROGRAM_NAME, _LAUNCH_NAME, _GUARD_NAME, _CODEX_GUARD_NAME = (
    "hook_program.py",
    "launch.py",
    "guard.sh",
    "codex_guard.sh",
)
MARGIN_SECONDS: Final = 2
"""A hook answers this long before its agent gives up on it."""
MCP_WORDS: Final = ("-P", "-m", "commonhold", "mcp")
_HOOK_WORDS: Final = len(("/bin/sh", "-c", "guard", "python", "hook_program", "agent", "socket", "policy", "seconds"))
_TEXT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_URL: Final = re.compile(r"http://127\.0\.0\.1:\d+/(?:t/\w+/)?hooks/\w+")
# The interpreter may be deleted (with its environment): then a hook that gates still blocks, and names the next step.
_GUARD: Final = 'test -x "$0" && test -r "$1" && exec "$0" -I -S "$@"; '
_GONE: Final = (
    "commonhold: the Python that its hooks run with is gone, or not for this user to run, so nothing is "
    "written unchecked. Next: install Commonhold again and run: commonhold install (or: commonhold uninstall)"
)
BLOCKING: Final = f'{_GUARD}echo "{_GONE}" >&2; exit 2'
# For an exit status the Copilot CLI shows its model no more than the number, and Claude Code the whole command as well.
_DENIAL: Final = {"permissionDecision": "deny", "permissionDecisionReason": _GONE}
BLOCKING_BY_WORD: Final = {
    "claude": f"{_GUARD}echo '{json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', **_DENIAL}})}'",
    "copilot": f"{_GUARD}echo '{json.dumps(_DENIAL)}'",
}
# Many agents take exit status 2 for an order not to stop, and Python, too, ends with 2 if its script is gone.
TELLING: Final = '"$0" -I -S "$@" || exit 1'


@dataclass(frozen=True, slots=True)
class Link:
    """A loopback address that hooks post to, with the token that they must send."""

    url: str
    token: str


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways to reach this machine's Commonhold from the repository: resolved once, at installation.

    `policy` is the action of a hook that cannot reach the daemon ("block" or "allow"). `wrapper` is the path of the
    program that Claude Code starts in place of a shell; empty if it cannot be set. `codex_root` is the working tree in
    which shells of Codex become the launcher; empty if they cannot. The files that they need are in `state_folder`.
    `bash_env` is the path of the file that Gemini's shells read first; empty if it cannot be set, None if we must not
    change Gemini's file of variables.
    """

    python: str
    hook_program: str
    socket: str
    policy: str = "block"
    link: Link | None = None
    wrapper: str = ""
    codex_root: str = ""
    state_folder: str = ""
    bash_env: str | None = None

    @property
    def launch(self) -> str:
        """The path of the launcher of shell commands, beside the program that hooks start."""
        return f"{self.hook_program.removesuffix(_HOOK_PROGRAM_NAME)}{_LAUNCH_NAME}"

    @property
    def guard(self) -> str:
        """The path of the script that passes a command of bash to the launcher, in the same folder."""
        return f"{self.hook_program.removesuffix(_HOOK_PROGRAM_NAME)}{_GUARD_NAME}"

    @property
    def codex_guard(self) -> str:
        """The path of the same script for a bash of Codex."""
        return f"{self.hook_program.removesuffix(_HOOK_PROGRAM_NAME)}{_CODEX_GUARD_NAME}"

    def words(self, agent: str, hook: Hook) -> list[str]:
        """Return the command of a hook. A hook that gates nothing never blocks."""
        guard = BLOCKING_BY_WORD.get(agent, BLOCKING) if hook.gates else TELLING
        within = str(hook.seconds - MARGIN_SECONDS)
        return ["/bin/sh", "-c", guard, self.python, self.hook_program, agent, self.socket, self.policy, within]

    def line(self, agent: str, hook: Hook) -> str:
        """Return the same for agents that pass it to a shell, which the command then replaces."""
        return f"exec {shlex.join(self.words(agent, hook))}"

    def server(self) -> list[str]:
        """Return the command of the MCP server."""
        return [self.python, *MCP_WORDS]


def is_ours(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a hook, a group of hooks alone, the entry of an MCP server or a variable contains our commands."""
    if not isinstance(value, Mapping):
        return shell_prefix.is_ours(value)
    inner = value.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(map(is_ours, inner))
    if isinstance(url := value.get("url"), str) and _URL.fullmatch(url):
        return True
    words = tuple(_words(value))
    return any(KNOCK in word or _is_guarded(_split(word)) for word in words) or any(
        words[place : place + len(MCP_WORDS)] == MCP_WORDS for place in range(len(words))
    )


def _is_guarded(words: Sequence[str]) -> bool:
    """Whether a command is one of our hooks, whatever paths it names, judged by its first words."""
    return any(word == TELLING or word.startswith(_GUARD) for word in words)


def _words(value: Mapping[str, Any]) -> Iterator[str]:
    for name in ("bash", "command", "args"):
        part = value.get(name)
        yield from part if isinstance(part, list) else [part] if isinstance(part, str) else []


def ways_in(text: str) -> tuple[Ways, ...]:
    """Return the ways in which the hooks in a file reach Commonhold, each once, whatever else the file contains."""
    found: dict[Ways, None] = {}
    texts = list(_texts(text))
    for place, each in enumerate(texts):
        # A hook is one line for a shell, or (in OpenCode's plugin) a list with a string for each word.
        words = _split(each) if each.startswith("exec ") else texts[place - 1 : place + 4]
        spot = next((spot for spot, word in enumerate(words) if word.endswith(KNOCK)), 0)
        if spot and len(words) > spot + 3:
            found[Ways(words[spot - 1], words[spot], words[spot + 2], words[spot + 3])] = None
    return tuple(found)


def commands_in(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands of our hooks in a file as its agent starts them, each once; even if their paths are gone."""
    texts = list(_texts(text))
    found: dict[tuple[str, ...], None] = {}
    for place, each in enumerate(texts):
        words = texts[place : place + _HOOK_WORDS]
        if each.startswith("exec ") and _is_guarded(_split(each)):
            found["/bin/sh", "-c", each] = None
        elif each == "/bin/sh" and _is_guarded(words):
            found[tuple(words)] = None
    return tuple(found)


def _texts(text: str) -> Iterator[str]:
    """Yield the strings between double quotes."""
    for each in _TEXT.findall(text):
        with suppress(ValueError):
            yield json.loads(each)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []
