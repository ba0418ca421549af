"""Write docs/benchmarks.md from what benches have measured: `make publish`.

`bench/benchmarks.md.in` is the page with placeholders, which are filled from `bench/results/NAME.json`. `--take` first
copies there what was measured last, from `build/bench`. A placeholder is one of

    {{NAME: FIGURE | FORMAT}}   the value, in a format of Python's such as `.2f`
    {{NAME: FIGURE | goal}}     its goal, and whether it is met
    {{NAME | measured}}         when, at which commit and on what it was measured
"""

import argparse
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from bench.reporting import FOLDER

ROOT: Final = Path(__file__).parents[1]
TEMPLATE: Final = ROOT / "bench/benchmarks.md.in"
RESULTS: Final = ROOT / "bench/results"
PAGE: Final = ROOT / "docs/benchmarks.md"
PLACEHOLDER: Final = re.compile(r"\{\{(?P<result>[\w-]+)(: (?P<figure>[^|{}]+?))? \| (?P<form>[^{}]+)\}\}")
GOAL: Final = re.compile(r"[≤≥<>] ?[\d.,]+( ?%)?|--\w+ \d+")
MEASURED: Final = re.compile(r"\d ?(%|ms\b|µs\b|s\b|\u00d7|times\b|MB\b|(MB|pairs|ops|grants|commits)/s)")
MEASURED_CELL: Final = re.compile(r"\d")
RULE: Final = re.compile(r"\|[\s|:-]+\|")
GOAL_COLUMN: Final = "goal"
NOT_MEASURED: Final = "not measured"


@dataclass(frozen=True)
class Result:
    """What one run of a bench has written."""

    measured: Mapping[str, Any]
    figures: Mapping[str, Mapping[str, Any]]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a result. A figure whose name is indented belongs to the one above it: "ABOVE: NAME"."""
        told = json.loads(path.read_text(encoding="utf-8"))
        figures, above = {}, ""
        for each in told["figures"]:
            is_part = each["name"].startswith("  ")
            above = above if is_part else each["name"]
            name = f"{above}: {each['name'].strip()}" if is_part else above
            if name in figures:
                raise ValueError(f"{path.name} has two figures named {name!r}: give each a name of its own")
            figures[name] = each
        return cls(told["measured"], figures)

    def said(self, figure: str | None, form: str) -> str:
        """The text for a placeholder. Raises KeyError where there is no such figure."""
        if figure is None:
            of = self.measured
            return f"{of['date']}, commit {of['commit']}, {of['cores']} cores, Python {of['python']}"
        found = self.figures[figure]
        return found["goal"].replace(": ", ", ") if form == GOAL_COLUMN else format(found["value"], form)


def results(folder: Path = RESULTS) -> dict[str, Result]:
    """All that is kept, by name."""
    return {path.stem: Result.read(path) for path in sorted(folder.glob("*.json"))}


def rendered(template: str, known: Mapping[str, Result]) -> str:
    """The page. What no run has produced is called not measured. Raises ValueError where a placeholder is misspelt."""

    def fill(found: re.Match[str]) -> str:
        try:
            return known[found["result"]].said(found["figure"], found["form"])
        except KeyError:
            return NOT_MEASURED

    page = PLACEHOLDER.sub(fill, template)
    if "{{" in page:
        raise ValueError(f"not a placeholder: {page[page.index('{{') :][:60]}")
    return page


def bare_figures(template: str) -> Iterator[str]:
    """The lines of a template that give a figure themselves. Goals, and sizes in a table's first column, may stand."""
    columns: list[str] = []
    is_code = False
    for line in template.splitlines():
        is_code ^= line.startswith("```")
        text = GOAL.sub("", PLACEHOLDER.sub("", line))
        if not line.startswith("|"):
            columns = []
            if not is_code and MEASURED.search(text):
                yield line
            continue
        cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
        if not columns:
            columns = cells
        elif not RULE.fullmatch(line) and any(_is_measured(*pair) for pair in zip(columns[1:], cells[1:], strict=True)):
            yield line


def _is_measured(column: str, cell: str) -> bool:
    return column != GOAL_COLUMN and MEASURED_CELL.search(cell) is not None


def take(measured: Path = FOLDER) -> None:
    """Keep what was measured last."""
    RESULTS.mkdir(exist_ok=True)
    for path in sorted(measured.glob("*.json")):
        shutil.copyfile(path, RESULTS / path.name)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.publish", description="Write docs/benchmarks.md.")
    parser.add_argument("--take", action="store_true", help="first keep what was measured last, of build/bench")
    if parser.parse_args().take:
        take()
    PAGE.write_text(rendered(TEMPLATE.read_text(encoding="utf-8"), results()), encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
