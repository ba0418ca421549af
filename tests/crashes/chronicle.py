"""What is kept of a story: what the disk was told, when which answer was given, and what must be true afterwards."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.crashes.disk import Deed, Image, Mark, read_tree

from commonhold.kernel.events import Recorded

STATE = ".commonhold"


@dataclass(frozen=True, slots=True)
class Settled:
    """A transaction of the store ended, and its caller was told. The state had this fingerprint then."""

    fingerprint: str


@dataclass(frozen=True, slots=True)
class Answered:
    """An agent got an answer; if a grant, with this fence."""

    fence: int | None


@dataclass(frozen=True)
class Chronicle:
    """A whole story. `trees` are the files after so and so many commits."""

    before: Image
    deeds: tuple[Deed, ...]
    empty: str
    log: tuple[Recorded, ...]
    trees: tuple[Image, ...]

    @cached_property
    def _marks(self) -> tuple[tuple[int, object], ...]:
        return tuple((place, deed.what) for place, deed in enumerate(self.deeds) if isinstance(deed, Mark))

    def expected_at(self, point: int) -> "Expected":
        """What must be found after a power failure before the deed with the number `point`."""
        passed = [mark for place, mark in self._marks if place < point]
        settled = [self.empty, *(mark.fingerprint for _, mark in self._marks if isinstance(mark, Settled))]
        fences = [mark.fence for mark in passed if isinstance(mark, Answered) and mark.fence]
        done = sum(isinstance(mark, Settled) for mark in passed)
        return Expected(tuple(settled), _promised(passed), done + 1, max(fences, default=0))


def _promised(passed: list[object]) -> int:
    """How many transactions had ended when the last answer was given."""
    answers = [index for index, mark in enumerate(passed) if isinstance(mark, Answered)]
    until = answers[-1] if answers else 0
    return sum(isinstance(mark, Settled) for mark in passed[:until])


@dataclass(frozen=True, slots=True)
class Expected:
    """`settled` are the states in order. One from `promised` to `begun` must be found, and all fences above `fence`."""

    settled: tuple[str, ...]
    promised: int
    begun: int
    fence: int

    @property
    def allowed(self) -> tuple[str, ...]:
        """The states that may be found."""
        return self.settled[self.promised : self.begun + 1]


def files_of(root: Path) -> Image:
    """The working tree, without the state."""
    return {path: data for path, data in read_tree(root).items() if path.split("/")[0] != STATE}
