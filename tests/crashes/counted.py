"""A machine without chance: time and names are counted, so that a story can be told again to the byte."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from unittest.mock import patch

from tests.fakes import CountingIds, FakeClock

from commonhold.kernel.clock import Now
from commonhold.machine.system import RandomIds, SystemClock

TICK: Final = 0.125


@dataclass
class TickingClock(FakeClock):
    """Moves on by a little at each look."""

    def now(self) -> Now:
        self.advance(TICK)
        return super().now()


@dataclass
class StagedIds(CountingIds):
    """Counted names, unlike those of other stages."""

    stage: str = ""

    def new(self, prefix: str) -> str:
        return super().new(f"{prefix}-{self.stage}")


@contextmanager
def counted(stage: str) -> Iterator[TickingClock]:
    """Count in this process until the end of the block."""
    clock, ids = TickingClock(), StagedIds(stage=stage)
    with (
        patch.object(SystemClock, "now", lambda _: clock.now()),
        patch.object(RandomIds, "new", lambda _, prefix: ids.new(prefix)),
    ):
        yield clock
