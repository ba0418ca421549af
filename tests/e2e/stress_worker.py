"""One agent that commits marks into a shared file, whatever is done to it. Run by `test_stress.py`.

Before it sends a changeset it writes it down; when it is started again after a kill it sends the very same request
once more, so that the answer tells what became of it.
"""

import json
import os
import random
import sys
from pathlib import Path

import commonhold
from commonhold import Changeset, Edit, Op

REGIONS = 12


class Diary:
    """What the agent knows of its own work after a kill: one JSON line a fact, flushed to the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.pending: dict[str, str] | None = None
        self.done = 0
        for line in path.read_text().splitlines() if path.exists() else ():
            self._take(json.loads(line))

    def _take(self, fact: dict[str, str]) -> None:
        if "sent" in fact:
            self.pending = fact
            return
        self.pending = None
        self.done += fact["outcome"] == "committed"

    def write(self, **fact: str) -> None:
        """Note a fact."""
        with self._path.open("a") as file:
            file.write(json.dumps(fact) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._take(fact)


def wish(hold: commonhold.Commonhold, name: str, number: int, attempt: int) -> dict[str, str]:
    """The next changeset: one more mark in some function of the file."""
    region = random.Random(f"{name}/{number}/{attempt}").randrange(REGIONS)  # noqa: S311 - a schedule, not a secret
    (read,) = hold.read(f"big.py#f{region * 7}")
    lines = (read.text or "").splitlines(keepends=True)
    lines.insert(len(lines) - 1, f"    mark = '{name}-{number}'\n")
    return {
        "sent": f"{name}/{number}/{attempt}",
        "key": read.key,
        "base": read.hash,
        "text": "".join(lines),
        "mark": f"{name}-{number}",
    }


def send(hold: commonhold.Commonhold, fact: dict[str, str]) -> str:
    """Commit what was written down."""
    edit = Edit(Op.REPLACE, fact["key"], fact["base"], fact["text"])
    return hold.commit(Changeset((edit,), intent=f"mark {fact['mark']}", request_id=fact["sent"])).outcome


def main() -> None:
    """Work until `count` marks are acknowledged."""
    name, count, diary_path = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    diary = Diary(diary_path)
    attempt = 0 if diary.pending is None else int(diary.pending["sent"].rsplit("/", 1)[1])
    with commonhold.open(".", agent=name) as hold:
        while diary.done < count:
            if diary.pending is None:
                attempt += 1
                diary.write(**wish(hold, name, diary.done, attempt))
            fact = diary.pending
            assert fact is not None
            diary.write(outcome=send(hold, fact), mark=fact["mark"])


if __name__ == "__main__":
    main()
