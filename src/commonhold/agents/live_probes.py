"""Calls without effect, made as an agent's program makes them, by which `doctor` checks the installation."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from commonhold.agents import codex_shell, gemini_shell, shell_prefix
from commonhold.agents.hook_commands import TELLING, commands_in
from commonhold.agents.json_text import NotJsonError, parse
from commonhold.code.regions.toml import parse_toml

SESSION: Final = "doctor"
_TOOL: Final = "CommonholdDoctor"
_GUARDING: Final = re.compile(r"^const \[guard, python, launcher, socket, whenDown\] = (\[.*\])$", re.MULTILINE)
# True only in a shell that our launcher started: it removes the variables that led to it, and names the holder.
_PROOF: Final = 'test -n "$COMMONHOLD_HOLDER" && test -z "$COMMONHOLD_GUARD"'


@dataclass(frozen=True, slots=True)
class Trial:
    """A command as an agent's program starts it in the working tree, or a post to `url` with a `token`.

    `payload` is its input, `environment` the variables that are set for it in addition to the inherited ones.
    """

    words: tuple[str, ...] = ()
    payload: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    token: str = ""


def gating(agent: str, text: str, root: str) -> Iterator[Trial]:
    """Yield the hooks of a settings file that run before a tool, called for a tool that has no effect."""
    payload = _sent(_before(agent, root))
    posts = tuple(_posts(text, payload))
    # A post starts no daemon: the commands beside it do that.
    yield from telling(agent, text, root) if posts else ()
    yield from (Trial(words, payload) for words in commands_in(text) if TELLING not in " ".join(words))
    yield from posts


def telling(agent: str, text: str, root: str) -> Iterator[Trial]:
    """Yield the hooks that cannot refuse anything, called for the end of the session in which the trials were made."""
    payload = _sent(_after(agent, root))
    yield from (Trial(words, payload) for words in commands_in(text) if TELLING in " ".join(words))


def shell(agent: str, texts: Mapping[str, str]) -> Trial | None:
    """Return a shell command of the agent's model; None if no setting leads it to our launcher.

    `texts` are the files of the working tree with those settings, by their paths.
    """
    match agent:
        case "claude":
            return _claude_shell(texts.get(shell_prefix.SETTINGS, ""))
        case "codex":
            return _codex_shell(texts.get(codex_shell.SETTINGS, ""))
        case "gemini":
            return _gemini_shell(texts.get(gemini_shell.ENV_FILE, ""))
        case "opencode":
            return _opencode_shell("\n".join(texts.values()))
        case _:
            return None


def _sent(payload: Mapping[str, Any]) -> bytes:
    return json.dumps(payload).encode()


def _before(agent: str, root: str) -> Mapping[str, Any]:
    match agent:
        case "opencode":
            return {"event": "before", "sessionID": SESSION, "cwd": root, "tool": _TOOL, "args": {}}
        case "copilot" | "vscode":
            return {"sessionId": SESSION, "cwd": root, "timestamp": 0, "toolName": _TOOL, "toolArgs": "{}"}
        case _:
            event = {"gemini": "BeforeTool", "cursor": "preToolUse"}.get(agent, "PreToolUse")
            return _hook_payload(event, root) | {"tool_name": _TOOL, "tool_input": {}}


def _after(agent: str, root: str) -> Mapping[str, Any]:
    match agent:
        case "opencode":
            return {"event": "session.deleted", "sessionID": SESSION, "cwd": root}
        case "copilot" | "vscode":
            return {"sessionId": SESSION, "cwd": root, "timestamp": 0, "reason": "complete"}
        case _:
            return _hook_payload({"cursor": "sessionEnd"}.get(agent, "SessionEnd"), root) | {"reason": "other"}


def _hook_payload(event: str, root: str) -> dict[str, Any]:
    return {"hook_event_name": event, "session_id": SESSION, "cwd": root, "permission_mode": "default"}


def _posts(text: str, payload: bytes) -> Iterator[Trial]:
    """Yield the same over the loopback, if the hooks in a file use it."""
    for group in _member(_value(text), "hooks", "PreToolUse") or ():
        for hook in _member(group, "hooks") or ():
            if url := _member(hook, "url"):
                token = str(_member(hook, "headers", "Authorization") or "").removeprefix("Bearer ")
                yield Trial(url=str(url), token=token, payload=payload)


def _member(value: Any, *path: str) -> Any:  # noqa: ANN401 - JSON
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _value(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return parse(text).value
    except NotJsonError:
        return None


def _claude_shell(settings: str) -> Trial | None:
    program = _member(_value(settings), "env", shell_prefix.VARIABLE)
    if not shell_prefix.is_ours(program):
        return None
    return Trial((str(program), _PROOF), environment={"CLAUDE_CODE_SESSION_ID": SESSION, "AI_AGENT": ""})


def _codex_shell(settings: str) -> Trial | None:
    try:
        chosen = _member(parse_toml(settings), "shell_environment_policy", "set")
    except ValueError:
        return None
    if not isinstance(chosen, Mapping) or "COMMONHOLD_GUARD" not in chosen:
        return None
    own = dict.fromkeys(("CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID"), SESSION)
    return Trial(("bash", "-c", _PROOF), environment={**{name: str(each) for name, each in chosen.items()}, **own})


def _gemini_shell(env_file: str) -> Trial | None:
    found = re.search(rf'^{gemini_shell.VARIABLE}="(.*/{gemini_shell.FIRST_READ})"$', env_file, re.MULTILINE)
    if found is None:
        return None
    script = f"shopt -u promptvars; _bgpids_file={os.devnull}; {_PROOF}"
    return Trial(("bash", "-c", script), environment={"GEMINI_CLI": "1", gemini_shell.VARIABLE: found[1]})


def _opencode_shell(plugin: str) -> Trial | None:
    found = _GUARDING.search(plugin)
    if found is None:
        return None
    guard, python, launcher, socket, when_down = json.loads(found[1])
    environment = {
        "BASH_ENV": "$COMMONHOLD_GUARD",
        "COMMONHOLD_GUARD": guard,
        "COMMONHOLD_GUARDED": str(os.getpid()),
        "COMMONHOLD_OWN_BASH_ENV": "",
        "COMMONHOLD_PYTHON": python,
        "COMMONHOLD_LAUNCHER": launcher,
        "COMMONHOLD_SOCKET": socket,
        "COMMONHOLD_WHEN_DOWN": when_down,
        "COMMONHOLD_HOLDER": f"opencode:{SESSION}",
        "COMMONHOLD_CALL": SESSION,
    }
    return Trial(("bash", "-c", _PROOF), environment=environment)
