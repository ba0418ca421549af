"""Who edits what: the same workload for every policy, made from a seed."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

HEADER: Final = "@header"


class Kind(StrEnum):
    """What an edit does."""

    BODY = "body"
    HOT = "hot"
    INSERT = "insert"
    HEADER = "header"
    PAIR = "pair"


# In how many of a hundred edits. HOT goes to one function a file, which agents fight over on purpose.
SHARES: Final[Mapping[Kind, int]] = {Kind.BODY: 46, Kind.HOT: 16, Kind.INSERT: 12, Kind.HEADER: 10, Kind.PAIR: 16}
# Thinking takes 0.8 to 1.2 of the mean.
SPREAD: Final = 0.2


@dataclass(frozen=True, slots=True)
class Place:
    """A region: `name` is a qualified name, that of a new function, or the header's."""

    path: str
    name: str

    @property
    def key(self) -> str:
        """The key in the short form."""
        return f"{self.path}#{self.name}"


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of one agent: a mark at each place, all or none, after `think_seconds` of thinking."""

    agent: int
    number: int
    kind: Kind
    places: tuple[Place, ...]
    think_seconds: float

    @property
    def intent(self) -> str:
        """What the agent wants, in words."""
        return f"mark {' and '.join(place.key for place in self.places)} for step {self.number}"

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it touches."""
        return tuple(dict.fromkeys(place.path for place in self.places))

    def marker(self, index: int) -> str:
        """The text that shows that the edit is in place at `places[index]`."""
        return f"ch:a{self.agent}.{self.number}.{index}"

    def variable(self, index: int) -> str:
        """The name that carries the marker."""
        return f"_ch_a{self.agent}_{self.number}_{index}"


def workload(
    functions: Mapping[str, Sequence[str]], *, agents: int, edits: int, think: float, seed: int
) -> tuple[tuple[Edit, ...], ...]:
    """The edits of each agent. `functions` maps each file to the functions that may be edited."""
    chance = random.Random(seed)  # noqa: S311 - chance with a seed, no secret
    hot = [Place(path, chance.choice(list(names))) for path, names in functions.items()]
    cold = [Place(path, name) for path, names in functions.items() for name in names if Place(path, name) not in hot]
    return tuple(_share(agent, edits, think, _Choice(seed, agent, hot, cold)) for agent in range(1, agents + 1))


class _Choice:
    """One agent's chances, which do not depend on how many other agents there are."""

    def __init__(self, seed: int, agent: int, hot: Sequence[Place], cold: Sequence[Place]) -> None:
        self.chance = random.Random(f"{seed}/{agent}")  # noqa: S311 - chance with a seed, no secret
        self.hot = hot
        self.cold = cold

    def places(self, kind: Kind, new_name: str) -> tuple[Place, ...]:
        path = self.chance.choice(self.hot).path
        match kind:
            case Kind.HOT:
                return (self.chance.choice(self.hot),)
            case Kind.BODY:
                return (self.chance.choice(self.cold),)
            case Kind.INSERT:
                return (Place(path, new_name),)
            case Kind.HEADER:
                return (Place(path, HEADER),)
            case Kind.PAIR:
                return tuple(self.chance.sample(self.cold, 2))


def _share(agent: int, edits: int, think: float, choice: _Choice) -> tuple[Edit, ...]:
    kinds = _kinds(edits)
    choice.chance.shuffle(kinds)
    return tuple(
        Edit(
            agent,
            number,
            kind,
            choice.places(kind, f"_ch_a{agent}_{number}_0"),
            round(think * choice.chance.uniform(1 - SPREAD, 1 + SPREAD), 4),
        )
        for number, kind in enumerate(kinds, start=1)
    )


def _kinds(count: int) -> list[Kind]:
    """So many kinds in the proportions of the shares: every agent has the same mix."""
    deck = [kind for kind, share in SHARES.items() for _ in range(share)]
    return [deck[int((index + 0.5) * len(deck) / count)] for index in range(count)]
