"""Merging on real work: `make bench-merge ARGS="--cooperbench DIR --repos DIR... --work DIR"`.

The folders are git repositories, bare or not, of CooperBench and of the projects that its tasks begin with.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from bench.merging import telling
from bench.merging.dataset import Dataset, Task
from bench.merging.environment import interpreter
from bench.merging.explaining import explain
from bench.merging.pairs import Setting, measure
from bench.merging.repository import Repository, store


def arguments() -> argparse.Namespace:
    """What may be chosen."""
    parser = argparse.ArgumentParser(prog="python -m bench.merging", description=__doc__)
    parser.add_argument("--cooperbench", type=Path, help="the repository of the data set")
    parser.add_argument("--repos", type=Path, nargs="+", default=[], help="the repositories of the projects")
    parser.add_argument("--work", type=Path, help="a folder where test outcomes are kept from run to run")
    parser.add_argument("--python", help="an interpreter with what the projects' tests need; by default one is made")
    parser.add_argument("--only", nargs="+", default=[], help="some tasks, as click/task2068")
    parser.add_argument("--pairs", nargs="+", default=[], help="some pairs, as 1-12")
    parser.add_argument("--tries", type=int, default=16, help="how many candidates to try at most")
    parser.add_argument("--no-check", action="store_true", help="try no candidates: PROVEN or REFUSED")
    parser.add_argument("--explain", metavar="PAIR", help="tell all about one pair, as click/task2068/1-12")
    parser.add_argument("--processes", type=int, default=2, help="how many work at once")
    parser.add_argument("--out", type=Path, default=Path("build/bench/merging-pairs.jsonl"), help="where results go")
    parser.add_argument("--against", type=Path, help="earlier results to compare with")
    return parser.parse_args()


def tasks(dataset: Dataset, only: list[str]) -> list[Task]:
    """The tasks whose commits are at hand."""
    chosen = [name for name in dataset.names() if not only or name in only]
    at_hand = [name for name in chosen if dataset.has_commit(name)]
    print(f"{len(at_hand)} tasks; of {len(chosen) - len(at_hand)} the commit is in none of the repositories")
    return [dataset.task(name) for name in at_hand]


def run(chosen: argparse.Namespace, work: Path) -> None:
    """Measure what was asked for."""
    kept = store(work / "store.git", [Repository(each) for each in chosen.repos])
    dataset = Dataset(Repository(chosen.cooperbench), kept)
    setting = Setting(work, kept.place, chosen.python or interpreter(work), 0 if chosen.no_check else chosen.tries)
    if chosen.explain:
        name, _, numbers = chosen.explain.rpartition("/")
        task = dataset.task(name)
        pair = next(pair for pair in task.pairs if [str(each.number) for each in pair] == numbers.split("-"))
        print("\n".join(explain(setting, task, pair)))
        return
    results = measure(setting, tasks(dataset, chosen.only), chosen.pairs, chosen.processes)
    telling.write(chosen.out, results)
    telling.tell(results)
    if chosen.against:
        telling.compare(results, chosen.against)


def main() -> int:
    """Work in the folder that was named, or in one that is gone afterwards."""
    chosen = arguments()
    if chosen.work:
        chosen.work.mkdir(parents=True, exist_ok=True)
        run(chosen, chosen.work.resolve())
    else:
        with tempfile.TemporaryDirectory(prefix="bench-merging-") as folder:
            run(chosen, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
