"""One client process: `python -m bench.contention.client TASK`. It begins at a line on its input, and stops at its end.

It says "ready" when it has read all that it will edit, and in the end, as JSON, what became of its commits.
"""

import json
import select
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import commonhold
from bench.contention.package import written
from commonhold import Changeset, CommonholdError

MAX_TRIES: Final = 1000
PAUSE_SECONDS: Final = 0.02
"""Between a call that failed and the next: the daemon may have been killed."""


@dataclass(frozen=True)
class Task:
    """What a client does: `commits` edits of the kinds, by turns, each to the next of the keys.

    `acks`: a file that takes the token of each edit that is acknowledged.
    """

    root: str
    name: str
    kinds: tuple[str, ...]
    keys: tuple[str, ...]
    commits: int
    acks: str = ""


@dataclass
class Tally:
    """What became of it. `waits`: seconds from reading to the answer that it is committed, each edit's tries in all.

    `refused`: how many calls had which code, of answers and of errors.
    """

    waits: list[float] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


class Client:
    """A session that commits, and counts."""

    def __init__(self, task: Task, hold: commonhold.Commonhold) -> None:
        """Commit through `hold`."""
        self._task = task
        self._hold = hold
        self._refused: Counter[str] = Counter()

    def work(self, is_over: Callable[[], bool]) -> Tally:
        """Commit until all is done or `is_over`."""
        waits: list[float] = []
        begun = time.perf_counter()
        while len(waits) < self._task.commits and not is_over():
            number = len(waits)
            kind = self._task.kinds[number % len(self._task.kinds)]
            key = self._task.keys[number % len(self._task.keys)]
            start = time.perf_counter()
            self._settle(kind, key, f"{self._task.name}_{number}")
            waits.append(time.perf_counter() - start)
        return Tally(waits, dict(self._refused), time.perf_counter() - begun)

    def _settle(self, kind: str, key: str, token: str) -> None:
        for _ in range(MAX_TRIES):
            try:
                edit = written(self._hold, kind, key, token)
                answer = self._hold.commit(Changeset((edit,), intent=token))
            except CommonholdError as fault:
                self._refused[str(fault.code)] += 1
                if self._is_there(key, token):
                    break
                time.sleep(PAUSE_SECONDS)
                continue
            if answer.outcome in ("committed", "merged"):
                break
            self._refused[str(answer.code)] += 1
        else:
            raise RuntimeError(f"{token} was not committed in {MAX_TRIES} tries: {dict(self._refused)}")
        self._acknowledge(token)

    def _is_there(self, key: str, token: str) -> bool:
        """Whether an edit whose call failed was made all the same."""
        return f"{token}\n" in Path(self._task.root, key.partition("#")[0]).read_text() if self._task.acks else False

    def _acknowledge(self, token: str) -> None:
        if self._task.acks:
            with Path(self._task.acks).open("a") as file:
                file.write(f"{token}\n")


def has_ended() -> bool:
    """Whether there is, or will be, nothing more to hear: whoever started this process wants it to stop."""
    return bool(select.select([sys.stdin], [], [], 0)[0])


def main(task: Task) -> None:
    """Work as the task says."""
    with commonhold.open(task.root, agent=task.name, daemon=True) as hold:
        for key in task.keys:
            hold.read(key)
        print("ready", flush=True)
        sys.stdin.readline()
        print(json.dumps(asdict(Client(task, hold).work(has_ended))), flush=True)


if __name__ == "__main__":
    main(Task(**json.loads(sys.argv[1])))
