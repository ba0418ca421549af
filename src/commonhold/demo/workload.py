"""The edits of each agent: the same workload for every policy, made from a seed."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

HEADER: Final = "@header"


class ChoreKind(StrEnum):
    """The target of an edit."""

    BODY = "body"
    HOT = "hot"
    INSERT = "insert"
    HEADER = "header"
    PAIR = "pair"


# Shares in a hundred edits. HOT goes to one function a file, for which agents contend on purpose.
SHARES: Final[Mapping[ChoreKind, int]] = {
    ChoreKind.BODY: 46,
    ChoreKind.HOT: 16,
    ChoreKind.INSERT: 12,
    ChoreKind.HEADER: 10,
    ChoreKind.PAIR: 16,
}
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
class Chore:
    """One edit of one agent: a mark at each place, all or none, after `think_seconds` of thinking."""

    agent: int
    number: int
    kind: ChoreKind
    places: tuple[Place, ...]
    think_seconds: float

    @property
    def intent(self) -> str:
        """The agent's purpose, in words."""
        return f"mark {' and '.join(place.key for place in self.places)} for step {self.number}"

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it touches."""
        return tuple(dict.fromkeys(place.path for place in self.places))

    def marker(self, index: int) -> str:
        """Return the text that shows that the edit is in place at `places[index]`."""
        return f"ch:a{self.agent}.{self.number}.{index}"

    def variable(self, index: int) -> str:
        """Return the name that carries the marker."""
        return _variable(self.agent, self.number, index)


def _variable(agent: int, number: int, index: int) -> str:
    return f"_ch_a{agent}_{number}_{index}"


def workload(
    functions: Mapping[str, Sequence[str]], *, agents: int, edits: int, think: float, seed: int
) -> tuple[tuple[Chore, ...], ...]:
    """Return the chores of each agent, `edits` of them. `functions` maps each file to its editable functions."""
    chance = random.Random(seed)  # noqa: S311 - chance with a seed, no secret
    hot = [Place(path, chance.choice(list(names))) for path, names in functions.items()]
    cold = [Place(path, name) for path, names in functions.items() for name in names if Place(path, name) not in hot]
    return tuple(_share(agent, edits, think, _Choice(seed, agent, hot, cold)) for agent in range(1, agents + 1))


class _Choice:
    """One agent's random choices, which do not depend on the number of other agents."""

    def __init__(self, seed: int, agent: int, hot: Sequence[Place], cold: Sequence[Place]) -> None:
        self.chance = random.Random(f"{seed}/{agent}")  # noqa: S311 - chance with a seed, no secret
        self.hot = hot
        self.cold = cold

    def places(self, kind: ChoreKind, new_name: str) -> tuple[Place, ...]:
        path = self.chance.choice(self.hot).path
        match kind:
            case ChoreKind.HOT:
                return (self.chance.choice(self.hot),)
            case ChoreKind.BODY:
                return (self.chance.choice(self.cold),)
            case ChoreKind.INSERT:
                return (Place(path, new_name),)
            case ChoreKind.HEADER:
                return (Place(path, HEADER),)
            case ChoreKind.PAIR:
                return tuple(self.chance.sample(self.cold, 2))


def _share(agent: int, edits: int, think: float, choice: _Choice) -> tuple[Chore, ...]:
    kinds = _kinds(edits)
    choice.chance.shuffle(kinds)
    return tuple(
        Chore(
            agent,
            number,
            kind,
            choice.places(kind, _variable(agent, number, 0)),
            round(think * choice.chance.uniform(1 - SPREAD, 1 + SPREAD), 4),
        )
        for number, kind in enumerate(kinds, start=1)
    )


def _kinds(count: int) -> list[ChoreKind]:
    """Return this many kinds in the proportions of the shares: every agent has the same mix."""
    deck = [kind for kind, share in SHARES.items() for _ in range(share)]
    return [deck[int((index + 0.5) * len(deck) / count)] for index in range(count)]
