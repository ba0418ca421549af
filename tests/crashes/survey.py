"""Many power failures in one story: each state that the disk may be left in, looked at once."""

import random
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.crashes.chronicle import Chronicle
from tests.crashes.disk import Disk, Image, Luck, write_tree
from tests.crashes.survivor import Survivor, Wound


@dataclass(frozen=True, slots=True)
class CrashState:
    """What the disk may hold after the power failed before the deed with the number `point`."""

    number: int
    point: int
    image: Image


@dataclass(frozen=True, slots=True)
class Finding:
    """A crash state, and what is wrong with it."""

    state: CrashState
    wounds: dict[Wound, str]


def crash_states(chronicle: Chronicle, seed: int, numbers: Iterable[int]) -> Iterator[CrashState]:
    """The crash states with these numbers, without repetitions, in the order of the story."""
    seen: set[int] = set()
    for number, point, disk in _failures(chronicle, seed, numbers):
        image = disk.remains(Luck.of(random.Random(f"{seed}, {number}, luck")))
        digest = hash(tuple(image.items()))
        if digest not in seen:
            seen.add(digest)
            yield CrashState(number, point, image)


def _failures(chronicle: Chronicle, seed: int, numbers: Iterable[int]) -> Iterator[tuple[int, int, Disk]]:
    """The moments of failure, and the disk at each."""
    moments = range(len(chronicle.deeds) + 1)
    chosen = sorted((random.Random(f"{seed}, {number}").choice(moments), number) for number in numbers)
    disk, done = Disk.holding(chronicle.before), 0
    for point, number in chosen:
        for deed in chronicle.deeds[done:point]:
            disk.do(deed)
        done = point
        yield number, point, disk


def survey(root: Path, chronicle: Chronicle, states: Iterable[CrashState]) -> Iterator[Finding]:
    """What the next session finds in each state. It is laid out where the story took place."""
    for state in states:
        lay_out(root, state.image)
        wounds = Survivor(root, chronicle, chronicle.expected_at(state.point)).examine()
        yield Finding(state, wounds)


def lay_out(root: Path, image: Image) -> None:
    """Put a file tree in the place of what is there."""
    shutil.rmtree(root, ignore_errors=True)
    write_tree(root, image)
