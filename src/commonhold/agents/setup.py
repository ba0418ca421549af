"""What is known of one agent as far as installing is concerned."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from commonhold.agents.calling import Ways
from commonhold.agents.pieces import Piece


class Level(StrEnum):
    """How far an agent is kept to what was agreed."""

    ENFORCED = "enforced"
    GATED = "gated"
    GATED_OPEN = "gated-open"
    DETECTED = "detected"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Setup:
    """An agent as far as installing is concerned.

    It is used where one of `programs` can be run, or one of `traces` lies in the repository; one of them in the home
    folder alone says that it was tried once, and no more.
    `hooks` are the pieces that its level depends on, `servers` those that offer it the MCP tools. `level` is what its
    hooks give when they are in force, and `why`; `next_step` what its user still has to do after installing.
    `blocks_since` is the first version whose failing hooks block, where earlier ones go on. `keeps_shell` says that its
    shell commands are run by our launcher, `keeps_since` from which version on, as far as that is known; `nests_shell`
    that it may run them in a sandbox of its own, in which no other can be begun.
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
