"""The options of the demo."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

SEED = 7


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """`think` is the mean thinking time of an edit in seconds; `quick` is a small run, which does not measure speed.

    With `dashboard` two agents collide beside a server at `port` (0: any free one), until the user ends it.
    `environment` is added to the environment of the agents' servers: it is no option, so it makes no two runs differ.
    """

    report: str | None = None
    agents: int = 8
    edits: int = 12
    think: float = 0.5
    seed: int = SEED
    quick: bool = False
    json: bool = False
    plain: bool = False
    keep: bool = False
    dashboard: bool = False
    port: int = 0
    environment: Mapping[str, str] = field(default_factory=dict, compare=False)

    def sized(self) -> Self:
        """Return the same options, with the sizes that `quick` stands for."""
        return replace(self, agents=3, edits=4, think=0.05) if self.quick else self
