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

AGENTS: Final[Mapping[str, Agent]] = {
    agent.name: agent for agent in (CLAUDE, CODEX, GEMINI, OPENCODE, COPILOT, CURSOR, VSCODE)
}
