"""A clock that only moves when a test moves it, and ids that count."""

from collections import Counter
from dataclasses import dataclass, field

from commonhold.kernel.clock import Now


@dataclass
class FakeClock:
    """Seconds since the start of the story; `reboot` begins another epoch."""

    seconds: float = 0.0
    boot: int = 1

    def now(self) -> Now:
        """Return the present instant."""
        return Now(f"boot-{self.boot}", self.seconds, self.seconds)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.seconds += seconds

    def reboot(self) -> None:
        """Begin the next boot: every deadline has passed."""
        self.boot += 1


@dataclass
class CountingIds:
    """Gives `lease-1`, `lease-2`, `acq-1` and so on."""

    counts: Counter[str] = field(default_factory=Counter)

    def new(self, prefix: str) -> str:
        """Return the next name."""
        self.counts[prefix] += 1
        return f"{prefix}-{self.counts[prefix]}"
