"""The data of one agent for its installation."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from commonhold.agents.file_pieces import Piece
from commonhold.agents.hook_commands import Ways


class Level(StrEnum):
    """How strictly an agent is kept to the leases."""

    ENFORCED = "enforced"
    GATED = "gated"
    GATED_OPEN = "gated-open"
    DETECTED = "detected"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Setup:
    """An agent, as far as its installation is concerned.

    It is in use if one of `programs` can be run, or one of `traces` is in the repository; a trace in the home folder
    alone only says that it was tried once. `hooks` are the pieces that its level depends on, `servers` those that offer
    it the MCP tools. `level` is the level that its hooks give when they are in force, and `why` the reason; `next_step`
    is the remaining work of its user after installing. `blocks_since` is the first version whose failing hooks block,
    where earlier ones go on. `keeps_shell` says that our launcher runs its shell commands, `keeps_since` the first
    version with which it does, if known; `nests_shell` that it may run them in a sandbox of its own, in which no other
    sandbox can be started.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    traces: tuple[str, ...]
    hooks: Callable[[Ways], tuple[Piece, ...]]
    servers: Callable[[Ways], tuple[Piece, ...]]
    level: Level
    why: str
    next_step: str = ""
    keeps_shell: bool = False
    keeps_since: tuple[int, ...] = ()
    nests_shell: bool = False
    blocks_since: tuple[int, ...] = ()
