"""How long repetitive text keeps others waiting, in each language: `python -m bench.repetition [SEED [COUNT [BYTES]]]`.

Units of one to four tokens of a language are repeated, and the regions, the soundness and the summary of that are asked
for, as the daemon does, while another thread looks how long it is not let run.
"""

import sys
import threading
import time
from pathlib import Path

from tests.unit.code.regions.hostile import repeated, units

from bench.reporting import Figure, report
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.regions.budget import TRIALS
from commonhold.code.regions.discover import discover
from commonhold.code.regions.language import Language
from commonhold.code.regions.languages import LANGUAGES
from commonhold.code.regions.syntax import problem_in
from commonhold.workspace import parse_trials

GOAL_SECONDS = 0.25
PULSE_SECONDS = 0.001
DEFAULTS = (1, 300, 25_000)


class Bystander:
    """A thread that wants to run each millisecond, and notes the longest time that it could not."""

    def __init__(self) -> None:
        """Start it."""
        self.longest_seconds = 0.0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        last = time.monotonic()
        while True:
            time.sleep(PULSE_SECONDS)
            now = time.monotonic()
            self.longest_seconds = max(self.longest_seconds, now - last)
            last = now


def worst(language: Language, bystander: Bystander, seed: int, count: int, size: int) -> tuple[float, str, float]:
    """The longest wait in seconds, the unit that caused it, and the most seconds of work that any unit took."""
    path = f"module{min(language.extensions)}"
    found, cause, most = 0.0, "", 0.0
    for unit in units(language, seed, count):
        source = repeated(unit, size)
        bystander.longest_seconds = 0.0
        start = time.thread_time()
        discover(source, path)
        problem_in(source, path)
        summarise(path, source)
        most = max(most, time.thread_time() - start)
        # The thread notes a wait when it is over.
        time.sleep(5 * PULSE_SECONDS)
        if bystander.longest_seconds > found:
            found, cause = bystander.longest_seconds, unit
    return found, cause, most


def main() -> None:
    """Go through all languages."""
    given = [int(word) for word in sys.argv[1:]]
    seed, count, size = (*given, *DEFAULTS[len(given) :])
    TRIALS.is_quick = parse_trials.is_quick
    bystander, figures = Bystander(), []
    for language in (each for each in LANGUAGES if each.grammar):
        wait, unit, most = worst(language, bystander, seed, count, size)
        print(f"{language.name}: {wait:.3f} s for {unit!r}", flush=True)
        figures.append(Figure(f"{language.name}: longest wait", wait, "s", f"<= {GOAL_SECONDS}"))
        figures.append(Figure(f"{language.name}: most work", most, "s"))
    report(Path(__file__).stem, figures)


if __name__ == "__main__":
    main()
