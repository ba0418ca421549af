"""The words by which an agent's hooks and its MCP client call us, and how we know them again as ours."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from commonhold.agents import shell_prefix
from commonhold.agents.hook_tables import Hook

KNOCK: Final = "commonhold/client/knock.py"
_KNOCK_NAME, _LAUNCH_NAME, _GUARD_NAME, _CODEX_GUARD_NAME = "knock.py", "launch.py", "guard.sh", "codex_guard.sh"
MARGIN_SECONDS: Final = 2
"""A hook answers so long before its agent gives up on it."""
MCP_WORDS: Final = ("-P", "-m", "commonhold", "mcp")
_HOOK_WORDS: Final = len(("/bin/sh", "-c", "guard", "python", "knock", "agent", "socket", "policy", "seconds"))
_TEXT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_URL: Final = re.compile(r"http://127\.0\.0\.1:\d+/(?:t/\w+/)?hooks/\w+")
# The interpreter may go (an environment is deleted): then a hook that gates still blocks, and says what to do.
_GUARD: Final = 'test -x "$0" && test -r "$1" && exec "$0" -I -S "$@"; '
_GONE: Final = (
    "commonhold: the Python that its hooks run with is gone, or not for this user to run, so nothing is "
    "written unchecked. Next: install Commonhold again and run: commonhold install (or: commonhold uninstall)"
)
BLOCKING: Final = f'{_GUARD}echo "{_GONE}" >&2; exit 2'
# Of an exit status the Copilot CLI tells its model no more than the number, and Claude Code the whole command as well.
_DENIAL: Final = {"permissionDecision": "deny", "permissionDecisionReason": _GONE}
BLOCKING_BY_WORD: Final = {
    "claude": f"{_GUARD}echo '{json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', **_DENIAL}})}'",
    "copilot": f"{_GUARD}echo '{json.dumps(_DENIAL)}'",
}
# By a 2, which Python, too, ends with where its script is gone, many an agent is told not to come to an end.
TELLING: Final = '"$0" -I -S "$@" || exit 1'


@dataclass(frozen=True, slots=True)
class Link:
    """An address on the loopback that hooks post to, with what they must know there."""

    url: str
    token: str


@dataclass(frozen=True, slots=True)
class Ways:
    """How this machine's Commonhold is reached from the repository: resolved once, when it is installed.

    `policy` is what a hook does that reaches nobody ("block" or "allow"). `wrapper` is where the program lies that
    Claude Code is to start in place of a shell; empty where it cannot be named. `codex_root` is the working tree in
    which shells of Codex are to become the launcher; empty where they cannot. What they need is in `state_folder`.
    `bash_env` is where the file lies that Gemini's shells are to read first; empty where it cannot be named, None where
    Gemini's file of variables is not ours to change.
    """

    python: str
    knock: str
    socket: str
    policy: str = "block"
    link: Link | None = None
    wrapper: str = ""
    codex_root: str = ""
    state_folder: str = ""
    bash_env: str | None = None

    @property
    def launch(self) -> str:
        """The launcher of shell commands, which lies beside what hooks start."""
        return f"{self.knock.removesuffix(_KNOCK_NAME)}{_LAUNCH_NAME}"

    @property
    def guard(self) -> str:
        """What gives a command of a bash to the launcher: it lies there, too."""
        return f"{self.knock.removesuffix(_KNOCK_NAME)}{_GUARD_NAME}"

    @property
    def codex_guard(self) -> str:
        """The same for a bash of Codex's."""
        return f"{self.knock.removesuffix(_KNOCK_NAME)}{_CODEX_GUARD_NAME}"

    def words(self, agent: str, hook: Hook) -> list[str]:
        """The command of a hook. One that gates nothing never blocks."""
        guard = BLOCKING_BY_WORD.get(agent, BLOCKING) if hook.gates else TELLING
        within = str(hook.seconds - MARGIN_SECONDS)
        return ["/bin/sh", "-c", guard, self.python, self.knock, agent, self.socket, self.policy, within]

    def line(self, agent: str, hook: Hook) -> str:
        """The same for agents that give it to a shell, which is then replaced by it."""
        return f"exec {shlex.join(self.words(agent, hook))}"

    def server(self) -> list[str]:
        """The command of the MCP server."""
        return [self.python, *MCP_WORDS]


def is_ours(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a hook, a group of hooks alone, the entry of an MCP server or a variable names us in words of ours."""
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
    """Whether a command is one of our hooks, wherever it points, judged by its first words."""
    return any(word == TELLING or word.startswith(_GUARD) for word in words)


def _words(value: Mapping[str, Any]) -> Iterator[str]:
    for name in ("bash", "command", "args"):
        part = value.get(name)
        yield from part if isinstance(part, list) else [part] if isinstance(part, str) else []


def ways_in(text: str) -> tuple[Ways, ...]:
    """How the hooks in a file reach Commonhold, each way once; whatever else the file is."""
    found: dict[Ways, None] = {}
    texts = list(_texts(text))
    for place, each in enumerate(texts):
        # A hook is one line for a shell, or (in OpenCode's plugin) a list with a text for each word.
        words = _split(each) if each.startswith("exec ") else texts[place - 1 : place + 4]
        spot = next((spot for spot, word in enumerate(words) if word.endswith(KNOCK)), 0)
        if spot and len(words) > spot + 3:
            found[Ways(words[spot - 1], words[spot], words[spot + 2], words[spot + 3])] = None
    return tuple(found)


def commands_in(text: str) -> tuple[tuple[str, ...], ...]:
    """The commands of our hooks in a file as its agent starts them, each once; also those that lead nowhere now."""
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
    """The texts between double quotes."""
    for each in _TEXT.findall(text):
        with suppress(ValueError):
            yield json.loads(each)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []
