"""Who calls what in a project, as its own suite does: seen once, kept from run to run."""

import ast
import json
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bench.semantics.mutants import Mutant, definitions
from bench.semantics.projects import OPTIONS, Project
from bench.semantics.truth import Suites

SCRIPT: Final = Path(__file__).with_name("calls_seen.py")

Place = tuple[str, int]


class Callers:
    """The callers of functions, by where the functions are."""

    def __init__(self, project: Project, suites: Suites) -> None:
        """Run the suite once, if it was not yet."""
        kept = suites.work / f"calls-{project.name}-{project.commit[:12]}.jsonl"
        if not kept.exists():
            print(f"  {project.name}: running the suite to see who calls whom", flush=True)
            _see(project, suites.python, kept)
        self._calls: defaultdict[Place, set[Place]] = defaultdict(set)
        for line in kept.read_text().splitlines():
            callee, first, caller, at = json.loads(line)
            self._calls[callee, first].add((caller, at))
        self._spans = {path: _spans(source) for path, source in project.sources.items()}

    def of(self, mutant: Mutant) -> frozenset[Place]:
        """The places that call a function, in the project before it was changed, outside of it."""
        first, last = self._spans[mutant.path].get(mutant.qualname, (mutant.line, mutant.line))
        lines = range(first, mutant.line + 1)
        found = {place for line in lines for place in self._calls.get((mutant.path, line), ())}
        return frozenset(each for each in found if each[0] != mutant.path or not first <= each[1] <= last)


def _spans(source: bytes) -> Mapping[str, tuple[int, int]]:
    found = {}
    for each in definitions(ast.parse(source)):
        first = min([each.node.lineno, *(decorator.lineno for decorator in each.node.decorator_list)])
        found[each.qualname] = first, each.node.end_lineno or first
    return found


def _see(project: Project, python: str, kept: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-semantics-") as folder:
        write(Path(folder).resolve(), project.files)
        told = kept.with_suffix(".part")
        command = [python, str(SCRIPT), str(Path(folder).resolve()), str(told), *OPTIONS]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - the interpreter that was chosen
        told.rename(kept)


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder."""
    for path, source in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source)
