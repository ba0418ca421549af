"""Two scripted agents that are coordinated by their hooks alone, as `commonhold install` sets them up for Claude Code.

This module does the work of Claude Code around an edit: it runs the commands in the project's settings with the payload
of the tool call, and writes the file only if they allow it. The agents themselves know nothing of Commonhold.
"""

import json
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from commonhold.client import daemon
from commonhold.demo.stage import AUTHOR, OWN_SETTINGS
from commonhold.workspace.git import process as git
from commonhold.workspace.repository import find_repository

_SETTINGS: Final = ".claude/settings.local.json"
PATH: Final = "prices.py"
SOURCE: Final = """\
def total(items):
    amount = sum(items)
    return amount


def report(items):
    return f"{total(items)} EUR"
"""
ROUNDED: Final = ("    return amount\n", "    return round(amount, 2)\n")
CHECKED: Final = ("    amount = sum(items)\n", "    if not items:\n        return 0\n    amount = sum(items)\n")
_SECONDS: Final = 60
_MOST_LINES: Final = 16


class HooksFailedError(Exception):
    """The hooks did not do their work."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The events line by line, and the text of the file at the end."""

    lines: tuple[str, ...]
    text: str

    @property
    def is_proof(self) -> bool:
        """Whether both edits are kept."""
        return all(new in self.text for _, new in (ROUNDED, CHECKED))


@dataclass(slots=True)
class Editor:
    """An agent reduced to its hooks: it reads a file, and edits it by its tool."""

    name: str
    root: Path
    session: str = field(default_factory=lambda: str(uuid.uuid4()))

    def begin(self, prompt: str) -> None:
        """Start the session with a prompt."""
        self._hook("SessionStart", source="startup")
        self._hook("UserPromptSubmit", prompt=prompt)

    def end_turn(self) -> None:
        """End the turn: the request is done."""
        self._hook("Stop")

    def end(self) -> None:
        """End the session."""
        self._hook("SessionEnd", reason="other")

    def read(self) -> str:
        """Return the text of the file, as the agent's own tool shows it."""
        text = (self.root / PATH).read_text(encoding="utf-8")
        shown = {"type": "text", "file": {"filePath": self._file, "content": text, "startLine": 1}}
        self._hook("PostToolUse", tool_name="Read", tool_input={"file_path": self._file}, tool_response=shown)
        return text

    def edit(self, text: str, old: str, new: str) -> str:
        """Replace `old` in the file, which was `text` when it was read; return why the hook refused it, or nothing."""
        written = {"file_path": self._file, "content": text.replace(old, new)}
        call: dict[str, Any] = {"tool_name": "Write", "tool_use_id": uuid.uuid4().hex, "tool_input": written}
        answer = self._hook("PreToolUse", **call)
        output = answer.get("hookSpecificOutput", {})
        if output.get("permissionDecision") == "deny":
            return str(output["permissionDecisionReason"])
        (self.root / PATH).write_text(text.replace(old, new), encoding="utf-8")
        self._hook("PostToolUse", **call, tool_response={"filePath": self._file})
        return ""

    @property
    def _file(self) -> str:
        return str(self.root / PATH)

    def _hook(self, event: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """Run the commands for an event as Claude Code does, and return the answer. Raises HooksFailedError."""
        payload = {"hook_event_name": event, "session_id": self.session, "cwd": str(self.root), **more}
        answer: dict[str, Any] = {}
        for command in _commands(self.root, event, str(more.get("tool_name", ""))):
            done = subprocess.run(  # noqa: S603 - the command that `install` has just written
                ["/bin/sh", "-c", command],
                input=json.dumps({**payload, "permission_mode": "default"}),
                capture_output=True,
                text=True,
                check=False,
                cwd=self.root,
                timeout=_SECONDS,
            )
            if done.returncode:
                raise HooksFailedError(done.stderr.strip() or f"a hook for {event} ended with {done.returncode}")
            answer |= json.loads(done.stdout) if done.stdout.strip() else {}
        return answer


def _commands(root: Path, event: str, tool: str) -> Iterator[str]:
    settings: Mapping[str, Any] = json.loads((root / _SETTINGS).read_text(encoding="utf-8"))
    for group in settings["hooks"].get(event, ()):
        if not tool or re.fullmatch(group.get("matcher", ".*"), tool):
            yield from (hook["command"] for hook in group["hooks"])


def play(folder: Path) -> Scene:
    """Let both agents edit one function of a small repository in `folder`. Raises HooksFailedError."""
    root = folder / "hooked"
    build(root)
    try:
        return _played(root)
    finally:
        daemon.stop(find_repository(str(root)))


def _played(root: Path) -> Scene:
    first, second = Editor("claude-1", root), Editor("claude-2", root)
    first.begin("Round the total to cents")
    second.begin("Let an empty basket cost nothing")
    seen, old = first.read(), second.read()
    lines = ["both read prices.py; each is to change total() in it"]
    if why := first.edit(seen, *ROUNDED):
        raise HooksFailedError(why)
    first.end_turn()
    lines.append('claude-1 writes its change ("Round the total to cents"): let through')
    why = second.edit(old, *CHECKED)
    lines.append("claude-2 writes the file as it was, with its own change:")
    lines += [f"  | {line}" for line in _short(why, first)] or ["  | let through: the other change is lost"]
    if why:
        if again := second.edit(second.read(), *CHECKED):
            raise HooksFailedError(again)
        lines.append("claude-2 redoes its change on the fresh text: let through")
    second.end_turn()
    return Scene(tuple(lines), (root / PATH).read_text(encoding="utf-8"))


def _short(why: str, other: Editor) -> list[str]:
    """Return the beginning of the agent's message, with the other's name here in place of its session's name."""
    lines = re.sub(rf"claude:{other.session[:8]}[-0-9a-f]*", other.name, why).splitlines()
    return [*lines[:_MOST_LINES], *(["…"] if len(lines) > _MOST_LINES else [])]


def build(root: Path) -> None:
    """Make a repository at `root` with one file, and install the hooks of Claude Code. Raises HooksFailedError."""
    root.mkdir()
    (root / PATH).write_text(SOURCE, encoding="utf-8")
    for words in (("init", "--quiet"), ("add", "--all"), (*AUTHOR, "commit", "--quiet", "--message", "begin")):
        git.run(*words, folder=str(root), settings=OWN_SETTINGS).check_returncode()
    install = [sys.executable, "-P", "-m", "commonhold", "install", "claude", "--yes"]
    done = subprocess.run(install, cwd=root, capture_output=True, text=True, check=False, timeout=_SECONDS)  # noqa: S603 - our own command
    if done.returncode:
        raise HooksFailedError(done.stderr.strip())
