"""How each contestant is called, through the quickest interface in process that it offers to the public.

A driver is a module with a class `Driver`. It runs in its contestant's own environment, so it imports that
contestant, the standard library and this package, and nothing else.
"""

import json
from dataclasses import asdict, dataclass
from typing import Final, Protocol, Self

WAIT_SECONDS: Final = 30.0
LEASE_SECONDS: Final = 60
SYNCHRONOUS: Final = ("OFF", "NORMAL", "FULL", "EXTRA")


@dataclass(frozen=True)
class Facts:
    """What was measured: `durability` is SQLite's `synchronous`, `waiting` how a claim waits its turn."""

    version: str
    calls: str
    waiting: str
    durability: str
    sqlite: str

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Self:
        """The facts in a line."""
        return cls(**json.loads(line))


class Driver(Protocol):
    """One agent of a contestant, in a process of its own."""

    def __init__(self, folder: str, agent: str) -> None:
        """Open the contestant's state in `folder`, as the agent of that name."""

    def facts(self) -> Facts:
        """What was opened, read from the connection in use where there is one."""

    def claim(self, key: str) -> bool:
        """Ask once. Whether it was granted."""

    def claim_waiting(self, key: str) -> bool:
        """Ask, and wait for `WAIT_SECONDS` at most, as the contestant's documentation says. Whether it was granted."""

    def release(self, key: str) -> None:
        """Give up what was granted."""

    def close(self) -> None:
        """Let go of the state."""
