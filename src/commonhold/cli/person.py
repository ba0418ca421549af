"""The name of a person who types commands at a terminal and need not choose one. No agent ever gets it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

# Variables that coding agents set in the shells that they start, and that we set in those that we start for them.
_AGENTS: Final = (
    "AGENT",
    "AI_AGENT",
    "AIDER_",
    "CLAUDECODE",
    "CLAUDE_CODE",
    "CODEX_",
    "COMMONHOLD_HOLDER",
    "COPILOT_",
    "CURSOR_",
    "GEMINI_CLI",
    "GITHUB_COPILOT_",
    "OPENCODE",
)
_PROGRAMS: Final = frozenset(
    ("aider", "claude", "codex", "copilot", "cursor-agent", "gemini", "mini", "mini-swe-agent", "opencode")
)
_MOST_ANCESTORS: Final = 32


def person() -> str | None:
    """`person:USER@HOST`, if a person types here: both ends are terminals, and nothing says that an agent does.

    None otherwise: agents run commands in terminals of their own, too, and each session needs a name of its own.
    """
    ends = (sys.stdin, sys.stdout)
    if not all(end is not None and end.isatty() for end in ends) or _is_an_agents():
        return None
    user = _user()
    return f"person:{user}@{_word(os.uname().nodename)}" if user else None


def _is_an_agents() -> bool:
    return any(name.startswith(_AGENTS) for name in os.environ) or any(name in _PROGRAMS for name in _ancestors())


def _user() -> str:
    """Return the name of the user of this process; not from the environment, since anybody can set it."""
    # Loaded here: needed only without a given name.
    import pwd  # noqa: PLC0415

    try:
        return _word(pwd.getpwuid(os.getuid()).pw_name)
    except KeyError:
        return ""


def _word(text: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "-" for char in text)


def _ancestors() -> Iterator[str]:
    """Yield the names of the ancestor processes' programs, as far as the system reveals them: also of scripts."""
    pid = os.getppid()
    for _ in range(_MOST_ANCESTORS):
        try:
            status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:2]
        except OSError:
            return
        yield status.partition("(")[2].rpartition(")")[0]
        yield from (word.decode(errors="replace").rpartition("/")[2] for word in words)
        pid = int(status.rpartition(")")[2].split()[1])
