"""What happened, as those saw it who asked: each operation with when it was asked and when it was answered."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

NEVER = float("inf")
What = Literal["acquire", "renew", "put", "release"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of one holder. `answered` is NEVER, and `answer` empty, for one that was killed in the middle.

    `given` and `answer` hold, for acquire: keys, mode, ttl, ticket, wait, and outcome, fence; for renew: ticket, ttl,
    and outcome; for put: key, text, expected, fence, and outcome, version; for release: ticket, and outcome.
    """

    what: What
    worker: str
    holder: str
    asked: float
    answered: float
    given: Mapping[str, Any]
    answer: Mapping[str, Any]

    @property
    def is_answered(self) -> bool:
        """Whether whoever asked learnt what came of it."""
        return self.answered < NEVER

    def __str__(self) -> str:
        words = " ".join(f"{name}={value}" for name, value in {**self.given, **self.answer}.items())
        return f"[{self.asked:.6f} {self.answered:.6f}] {self.holder} {self.what} {words}"


@dataclass(frozen=True, slots=True)
class Place:
    """What the store's log tells of a place in line: its number, and the fence of the grant that ended it."""

    holder: str
    keys: tuple[str, ...]
    number: int
    fence: int | None


def read(folder: Path) -> tuple[Operation, ...]:
    """The operations that the workers of a run have written down in `folder`, in the order of asking."""
    found = [each for path in folder.glob("*.history") for each in _of_worker(path)]
    return tuple(sorted(found, key=lambda operation: operation.asked))


def _of_worker(path: Path) -> Iterable[Operation]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    answers = {line["number"]: line for line in lines if "answered" in line}
    for line in lines:
        if "asked" in line:
            back = answers.get(line["number"], {"answered": NEVER, "answer": {}})
            yield Operation(
                line["what"],
                path.stem,
                line["holder"],
                line["asked"],
                back["answered"],
                line["given"],
                back["answer"],
            )
