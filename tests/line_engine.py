"""An engine that merges by lines, as `git merge-file` does, for tests of what is built around the real one.

What conflicts has candidates: ours with theirs below it, and the other way round.
"""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from commonhold.merging.verdict import Candidate, Proven, Reason, Sides, Spot, Unproven


def by_lines(base: bytes, ours: bytes, theirs: bytes, path: str, sides: Sides | None = None) -> Proven | Unproven:
    named = sides or Sides()
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for place, content in zip(places, (ours, base, theirs), strict=True):
            place.write_bytes(content)
        labels = [word for name in (named.ours, "base", named.theirs) for word in ("-L", name)]
        size = f"--marker-size={named.marker_size}"
        done = subprocess.run(["git", "merge-file", "-p", size, *labels, *places], check=False, capture_output=True)
    if done.returncode == 0:
        return Proven(done.stdout, (f"lines of {path}",))
    spot = Spot(Reason.BOTH_CHANGED, "both sides changed these lines", (0, 1), (2, 3), (4, 6))
    return Unproven((spot,), done.stdout, lambda: orders(ours, theirs))


def orders(ours: bytes, theirs: bytes) -> Iterator[Candidate]:
    yield Candidate(ours + theirs, "ours, then theirs")
    yield Candidate(theirs + ours, "theirs, then ours")


def never(base: bytes, ours: bytes, theirs: bytes, path: str, sides: Sides | None = None) -> Proven | Unproven:
    """Prove nothing."""
    found = by_lines(base, ours, theirs, path, sides)
    if isinstance(found, Unproven):
        return found
    spot = Spot(Reason.INTERFERES, "what one side changed may be used by what the other did")
    return Unproven((spot,), by_lines(b"", ours, theirs, path, sides).marked, lambda: orders(ours, theirs))  # type: ignore[union-attr]
