"""The two loads: what each process does from the common start to the end."""

import json
import os
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from struct import Struct
from typing import Final, Self

from bench.rivals.drivers import Driver

ONE_KEY: Final = "bench:shared"
_COUNT: Final = Struct("<QQQ")


class Load(StrEnum):
    """Whether the processes meet."""

    DISTINCT_KEYS = "distinct-keys"
    ONE_KEY = "one-key"


@dataclass(frozen=True)
class Outcome:
    """What one process got. A grant counts if it came before the end; later ones are `late`.

    The longest wait runs from asking to the grant or to the end, whichever came first: who got nothing waited all
    the time.
    """

    grants: int = 0
    late: int = 0
    longest_wait_seconds: float = 0.0

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Self:
        """The outcome in a line."""
        return cls(**json.loads(line))


@dataclass(frozen=True)
class Count:
    """What the tally says: how many grants there were, and how many went to another process than the one before."""

    grants: int = 0
    handovers: int = 0


class Tally:
    """A count in a file, which only the holder of the one key may change.

    Reading it and writing it back one larger is two steps, so grants that overlap show as grants that are missing.
    """

    def __init__(self, folder: str, number: int = 0) -> None:
        """Use the tally of `folder`, as process `number`."""
        self._number = number
        self._descriptor = os.open(os.path.join(folder, "tally"), os.O_RDWR | os.O_CREAT, 0o600)  # noqa: PTH118

    def _read(self) -> tuple[int, int, int]:
        packed = os.pread(self._descriptor, _COUNT.size, 0)
        return _COUNT.unpack(packed) if packed else (0, 0, self._number)

    def count(self) -> Count:
        """How far it is."""
        grants, handovers, _ = self._read()
        return Count(grants, handovers)

    def add_one(self, hold_seconds: float) -> None:
        """Count a grant, in all of the time that it is held."""
        grants, handovers, last = self._read()
        if hold_seconds:
            time.sleep(hold_seconds)
        packed = _COUNT.pack(grants + 1, handovers + (last != self._number), self._number)
        os.pwrite(self._descriptor, packed, 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def claim_apart(driver: Driver, key: str, until: float) -> Outcome:
    """Claim a key that nobody else wants, and release it, again and again."""
    grants, longest, asked = 0, 0.0, time.monotonic()
    while asked < until:
        assert driver.claim(key), key
        driver.release(key)
        done = time.monotonic()
        longest = max(longest, done - asked)
        grants += done <= until
        asked = done
    return Outcome(grants, 0, longest)


def claim_together(driver: Driver, tally: Tally, hold_seconds: float, until: float) -> Outcome:
    """Claim the key that all want, count that in the tally, release it and ask again."""
    grants, late, longest = 0, 0, 0.0
    while (asked := time.monotonic()) < until:
        is_granted = driver.claim_waiting(ONE_KEY)
        now = time.monotonic()
        longest = max(longest, min(now, until) - asked)
        if is_granted:
            tally.add_one(hold_seconds)
            driver.release(ONE_KEY)
            grants += now <= until
            late += now > until
    return Outcome(grants, late, longest)
