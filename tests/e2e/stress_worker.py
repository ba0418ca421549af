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
        self.done = self.attempts = 0
        for line in path.read_text().splitlines() if path.exists() else ():
            self._take(json.loads(line))

    def _take(self, fact: dict[str, str]) -> None:
        if "sent" in fact:
            self.pending = fact
            self.attempts += 1
            return
        self.pending = None
        self.done += fact["outcome"] != "refused"

    def write(self, **fact: str) -> None:
        """Note a fact."""
        with self._path.open("a") as file:
            file.write(json.dumps(fact) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._take(fact)


def wish(hold: commonhold.Commonhold, name: str, diary: Diary) -> dict[str, str]:
    """The next changeset: one more mark in some function of the file, each agent's below a line of its own."""
    request_id, mark = f"{name}/{diary.attempts}", f"{name}-{diary.done}"
    region = random.Random(request_id).randrange(REGIONS)
    (read,) = hold.read(f"big.py#f{region * 7}")
    lines = (read.text or "").splitlines(keepends=True)
    below = next(index for index, line in enumerate(lines) if line.startswith(f"    value_{name.removeprefix('w')} = "))
    lines.insert(below + 1, f"    {name}_{diary.done} = '{mark}'\n")
    return {
        "sent": request_id,
        "key": read.key,
        "base": read.hash,
        "text": "".join(lines),
        "mark": mark,
    }


def send(hold: commonhold.Commonhold, fact: dict[str, str]) -> str:
    """Commit what was written down."""
    edit = Edit(Op.REPLACE, fact["key"], fact["base"], fact["text"])
    return hold.commit(Changeset((edit,), intent=f"mark {fact['mark']}", request_id=fact["sent"])).outcome


def main() -> None:
    """Work until `count` marks are acknowledged."""
    name, count, diary_path = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    diary = Diary(diary_path)
    with commonhold.open(".", agent=name) as hold:
        while diary.done < count:
            if diary.pending is None:
                diary.write(**wish(hold, name, diary))
            fact = diary.pending
            assert fact is not None
            diary.write(outcome=send(hold, fact), mark=fact["mark"])


if __name__ == "__main__":
    main()
