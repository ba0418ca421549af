"""The agents that are known."""

from collections.abc import Mapping
from typing import Final

from commonhold.agents.agent import Agent
from commonhold.agents.claude import CLAUDE
from commonhold.agents.codex import CODEX
from commonhold.agents.copilot import COPILOT
from commonhold.agents.cursor import CURSOR
from commonhold.agents.gemini import GEMINI
from commonhold.agents.opencode import OPENCODE
from commonhold.agents.vscode import VSCODE
from commonhold.domain.errors import Code, UsageError

AGENTS: Final[Mapping[str, Agent]] = {
    agent.name: agent for agent in (CLAUDE, CODEX, GEMINI, OPENCODE, COPILOT, CURSOR, VSCODE)
}


def agent_named(name: str) -> Agent:
    """The agent of this name. Raises UsageError for one that is not known."""
    if name not in AGENTS:
        raise UsageError(Code.USAGE, f"no agent is called {name!r}", hint=f"name one of {', '.join(AGENTS)}")
    return AGENTS[name]
