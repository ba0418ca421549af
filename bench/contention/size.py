"""A commit in a large file of a real package, against `ast.parse` and `compile` of that file in the same run.

The package is mypy, which the development environment has: its files nearest to 1,000 and 10,000 lines. A quick run
takes click, which has fewer files.
"""

import ast
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Final

import commonhold
from bench.contention.served import daemon, repository
from bench.git import record
from bench.processes import cpu_seconds
from bench.reporting import Figure, at_most, seconds
from commonhold import Changeset, Edit, Op

CALLERS: Final = 20
LONGEST_FUNCTION: Final = 80


@dataclass(frozen=True)
class Sizes:
    """Where a commit is measured, and how often.

    `goals`: for each size of a file, in lines, the most that a body edit may cost, in times of parsing and compiling
    the file. A commit of each kind is measured `rounds` times.
    """

    package: str = "mypy"

    goals: Sequence[tuple[int, float]] = ((1_000, 1.0), (10_000, 0.3))
    rounds: int = 30


QUICK: Final = Sizes("click", ((1_000, 1.0),), 3)
CONTRACT_GOAL: Final = 3.0


def measure(sizes: Sizes) -> list[Figure]:
    """All figures."""
    return [figure for lines, goal in sizes.goals for figure in _of_file(sizes.package, lines, goal, sizes.rounds)]


def _folder(package: str) -> Path:
    found = find_spec(package)
    assert found is not None, f"{package} is not installed"
    assert found.origin is not None, f"{package} has no folder"
    return Path(found.origin).parent


def _nearest(folder: Path, lines: int) -> str:
    """The module of a package whose number of lines is nearest, and that has a function to give a parameter to."""
    known = {
        path.name: path.read_bytes().count(b"\n") for path in sorted(folder.glob("*.py")) if _with_parameters(path)
    }
    return min(known, key=lambda name: abs(known[name] - lines))


def _lay_out(package: str, name: str, root: Path) -> None:
    """Write the package, and callers of one of the file's functions in files of their own."""
    folder = root / package
    shutil.copytree(_folder(package), folder, ignore=shutil.ignore_patterns("*.so", "*.pyc", "typeshed", "test"))
    function = _with_parameters(folder / name)[0]
    taken = ", ".join(f"value.a{number}" for number in range(len(function.args.args)))
    for number in range(CALLERS):
        text = f"from {package}.{name[:-3]} import {function.name}\n\n\n"
        text += f"def use_{number}(value):\n    return {function.name}({taken})\n"
        (folder / f"caller{number}.py").write_text(text)
    (root / "commonhold.toml").write_text('types = "on"\nsuspicion = "notice"\n')
    record(root)


def _with_parameters(path: Path) -> list[ast.FunctionDef]:
    """The functions of a module, plain ones, that can be given one more parameter.

    One that is called with starred arguments is not: that such calls fit cannot be told, so the edit is refused.
    """
    tree = ast.parse(path.read_bytes())
    starred = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and any(isinstance(each, ast.Starred) for each in node.args)
    }
    found = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name not in starred)
    return [node for node in found if node.returns and not node.decorator_list and _is_plain(node.args)]


def _is_plain(arguments: ast.arguments) -> bool:
    others = (arguments.posonlyargs, arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return bool(arguments.args) and not any(others)


def _bodies(source: bytes) -> list[str]:
    """The qualified names of functions and methods of ordinary length, each defined once."""
    names: list[str] = []
    for node in ast.parse(source).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        names += [
            prefix + each.name
            for each in inner
            if isinstance(each, ast.FunctionDef)
            and not each.decorator_list
            and len(each.body) > 1
            and (each.end_lineno or 0) - each.lineno < LONGEST_FUNCTION
        ]
    return [name for name in names if names.count(name) == 1]


def _of_file(package: str, lines: int, goal: float, rounds: int) -> Iterator[Figure]:
    label, name = f"{lines:,} lines", _nearest(_folder(package), lines)
    with repository(partial(_lay_out, package, name)) as root:
        source = (root / package / name).read_bytes()
        yield Figure(f"{label}: lines of {package}/{name}", source.count(b"\n"), "lines")
        with commonhold.open(str(root), agent="writer", daemon=True) as hold:
            writer = _Writer(root, hold, f"{package}/{name}")
            bodies, function = _bodies(source), _with_parameters(root / package / name)[0].name
            body = writer.against_compiling(lambda number: writer.body(bodies[number % len(bodies)], number), rounds)
            yield from _figures(f"{label}: body", body, goal)
            contract = writer.against_compiling(lambda number: writer.contract(function, number), rounds)
            yield from _figures(f"{label}: contract, {CALLERS} callers", contract, CONTRACT_GOAL)


@dataclass(frozen=True)
class _Cost:
    """Seconds of a commit and of parsing and compiling, by the clock; and what the processor did for each, in all."""

    pairs: Sequence[tuple[float, float]]
    cpu: float
    cpu_of_compiling: float


def _figures(name: str, cost: _Cost, goal: float) -> Iterator[Figure]:
    yield Figure(f"{name}: commit", median(mine for mine, _ in cost.pairs) * 1e3, "ms")
    yield Figure(f"{name}: ast.parse and compile", median(other for _, other in cost.pairs) * 1e3, "ms")
    yield at_most(f"{name}: commit against them", median(mine / other for mine, other in cost.pairs), "ratio", goal)
    yield Figure(f"{name}: CPU of a read and a commit", cost.cpu / len(cost.pairs) * 1e3, "ms")
    yield at_most(f"{name}: CPU against theirs", cost.cpu / cost.cpu_of_compiling, "ratio", goal)


class _Writer:
    """An agent that reads a function of one file, and commits it."""

    def __init__(self, root: Path, hold: commonhold.Commonhold, path: str) -> None:
        self._root = root
        self._hold = hold
        self._path = path

    def against_compiling(self, prepare: Callable[[int], Changeset], rounds: int) -> _Cost:
        """Commit and compile by turns, as a warm agent: the first commit does not count."""
        self._commit(prepare(0))
        pid, pairs, compiling = daemon(self._root), [], 0.0
        before = cpu_seconds(pid)
        for number in range(1, rounds + 1):
            changeset = prepare(number)
            mine = seconds(partial(self._commit, changeset))
            source, start = (self._root / self._path).read_bytes(), time.process_time()
            theirs = seconds(partial(_compile, source))
            compiling += time.process_time() - start
            pairs.append((mine, theirs))
        return _Cost(pairs, cpu_seconds(pid) - before, compiling)

    def body(self, name: str, number: int) -> Changeset:
        """A statement more at the beginning of a function's body, behind its docstring."""
        key, base, text = self._read(name)
        lines = text.splitlines(keepends=True)
        first = _first_statement(text)
        indent = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip())]
        lines.insert(first - 1, f"{indent}mark_{number} = {number}\n")
        return _replacing(key, base, "".join(lines))

    def contract(self, name: str, number: int) -> Changeset:
        """A parameter with a default, which gets another name each time."""
        key, base, text = self._read(name)
        parameter = f"x{number}: int = 0"
        again = re.sub(r"x\d+: int = 0", parameter, text, count=1)
        if again == text:
            again = re.sub(r",?(\s*)\) ->", rf", {parameter}\1) ->", text, count=1)
        return _replacing(key, base, again)

    def _read(self, name: str) -> tuple[str, str, str]:
        (region,) = self._hold.read(f"{self._path}#{name}")
        return region.key, region.hash, region.text or ""

    def _commit(self, changeset: Changeset) -> None:
        answer = self._hold.commit(changeset)
        assert answer.outcome == "committed", f"{answer.code}: {answer.why}"


def _replacing(key: str, base: str, text: str) -> Changeset:
    return Changeset((Edit(Op.REPLACE, key, base, text),), intent="bench")


def _first_statement(text: str) -> int:
    """The line, from 1, of the first statement of the only function in `text` that is no docstring."""
    head = "class Around:\n" if text[0].isspace() else ""
    function = next(node for node in ast.walk(ast.parse(head + text)) if isinstance(node, ast.FunctionDef))
    first = function.body[1 if ast.get_docstring(function) is not None else 0]
    return first.lineno - head.count("\n")


def _compile(source: bytes) -> None:
    compile(ast.parse(source), "module.py", "exec")
