"""LangGraph and LangChain: a guard node for graphs, and a middleware for agents' tool calls.

Needs `pip install 'commonhold[langgraph]'`. docs/langgraph.md shows it.
"""

from commonhold.integrations.langgraph.committing import COMMIT_RETRY, Committing
from commonhold.integrations.langgraph.guarding import GIVE_UP, Guard, Guarded, leases_of
from commonhold.integrations.langgraph.identity import holder_of
from commonhold.integrations.langgraph.middleware import CommonholdMiddleware
from commonhold.integrations.langgraph.tools import FILE_TOOLS, Holds, Reads, Role, Writes

__all__ = [
    "COMMIT_RETRY",
    "FILE_TOOLS",
    "GIVE_UP",
    "Committing",
    "CommonholdMiddleware",
    "Guard",
    "Guarded",
    "Holds",
    "Reads",
    "Role",
    "Writes",
    "holder_of",
    "leases_of",
]
