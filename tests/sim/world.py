"""Virtual time: nothing happens but what is on the agenda, and for one seed always the same in the same order."""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random

from commonhold.kernel.clock import Now

Deed = Callable[[], None]


class World:
    """An agenda, one source of chance, and perhaps a story that is written down."""

    def __init__(self, seed: int, *, is_told: bool = False) -> None:
        self.seconds = 0.0
        self.random = Random(seed)
        self.story: list[str] = []
        self.is_told = is_told
        self._agenda: list[tuple[float, int, Deed]] = []
        self._count = 0

    def after(self, seconds: float, deed: Deed) -> None:
        self._count += 1
        heappush(self._agenda, (self.seconds + seconds, self._count, deed))

    def run(self) -> None:
        agenda = self._agenda
        while agenda:
            self.seconds, _, deed = heappop(agenda)
            deed()

    def chance(self, likelihood: float) -> bool:
        return self.random.random() < likelihood

    def tell(self, who: str, what: object) -> None:
        """Write down what happened, if anybody wants to read it."""
        if self.is_told:
            self.story.append(f"{self.seconds:8.1f}  {who:<9} {what}")


@dataclass
class MachineClock:
    """The store's clock. Its ticks count from the last boot, and its wall time may be set at any moment."""

    world: World
    boot: int = 1
    booted_at: float = 0.0
    wall_offset: float = 1e9

    def now(self) -> Now:
        seconds = self.world.seconds
        return Now(f"boot-{self.boot}", seconds - self.booted_at, seconds + self.wall_offset)

    def reboot(self) -> None:
        self.boot += 1
        self.booted_at = self.world.seconds

    def set_wall(self, by_seconds: float) -> None:
        self.wall_offset += by_seconds
