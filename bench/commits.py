"""A commit of one function in a file of 1,000 lines, against `ast.parse` and `compile` of that file.

In memory-backed storage, so that flushing to disk is left aside: it costs what the disk costs, and is shown apart.
"""

import ast
import shutil
import tempfile
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median

import commonhold
from bench.reporting import Figure, at_most, paired_ratio, report
from commonhold import Changeset, Edit, Op

FUNCTIONS = 72
ROUNDS = 60
MEMORY = Path("/dev/shm")  # noqa: S108 - the folder of memory-backed files


def module() -> str:
    """About 1,000 lines as people write them: functions with branches, calls and strings."""
    function = '''def step_{n}(items, limit=10):
    """Count what is below the limit."""
    total = 0
    for index, item in enumerate(items):
        if item.size > limit and item.name.startswith("part-{n}"):
            total += item.size * index
        elif item.is_empty():
            continue
        else:
            total -= len(item.name)
    result = {{"total": total, "name": f"step-{{total}}", "items": [each.name for each in items]}}
    return [result, total] if total else None


'''
    return "import os\n\n\n" + "".join(function.format(n=number) for number in range(FUNCTIONS))


class Committer:
    """Commits one function after another, each read first as an agent would."""

    def __init__(self, folder: Path) -> None:
        """Lay the file out in `folder`."""
        (folder / ".commonhold").mkdir()
        (folder / "big.py").write_text(module())
        self.hold = commonhold.open(str(folder), agent="bench")
        self.numbers = count()

    def prepare(self) -> Changeset:
        """Read, think, write the changeset."""
        number = next(self.numbers)
        (region,) = self.hold.read(f"big.py#step_{number % FUNCTIONS}")
        text = (region.text or "").replace("total = 0", f"total = 0 + {number}", 1)
        return Changeset((Edit(Op.REPLACE, region.key, region.hash, text),), intent="bench")

    def commit(self, changeset: Changeset) -> None:
        """Commit, which must succeed."""
        answer = self.hold.commit(changeset)
        assert answer.outcome == "committed", answer


def measure(folder: Path) -> tuple[float, float, float]:
    """(median seconds of a commit, of parse and compile, median ratio)."""
    committer = Committer(folder)
    source = module().encode()
    committer.commit(committer.prepare())

    def gate() -> None:
        compile(ast.parse(source), "big.py", "exec")

    pairs = []
    for _ in range(ROUNDS):
        commit = partial(committer.commit, committer.prepare())
        pairs.append(paired_ratio(commit, gate, rounds=1))
    commits, gates, ratios = zip(*pairs, strict=True)
    return median(commits), median(gates), median(ratios)


def main() -> None:
    """Measure in memory and on disk."""
    figures = [Figure("lines", module().count("\n"), "lines")]
    for name, parent in (("in memory", MEMORY if MEMORY.is_dir() else None), ("on disk", Path())):
        folder = Path(tempfile.mkdtemp(prefix="bench-", dir=parent))
        try:
            commit, gate, ratio = measure(folder)
        finally:
            shutil.rmtree(folder)
        figures += [
            Figure(f"commit, {name}", commit * 1e3, "ms"),
            Figure(f"ast.parse and compile, beside it {name}", gate * 1e3, "ms"),
            at_most(f"commit against parse and compile, {name}", ratio, "ratio", 1),
        ]
    report("commits", figures)


if __name__ == "__main__":
    main()
