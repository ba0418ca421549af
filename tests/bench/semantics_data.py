"""A small project of two files that use each other, with a history, and patches made for it."""

import json
from dataclasses import dataclass
from pathlib import Path

from tests.bench.merging_data import commit, git, write

PRICES = '''"""What things cost."""


class Goods:
    def __init__(self, name, amount=1):
        self.name = name
        self.amount = amount

    def label(self, width):
        return self.name.center(width)

    def unused(self):
        return None


class Bread(Goods):
    def label(self, width):
        return super().label(width) + "!"


def price(goods, rate=2):
    return goods.amount * rate
'''
BILLS = '''"""What is to be paid."""

from shop.prices import Bread, price


def total(names):
    return sum(price(Bread(name)) for name in names)


def lines(names):
    return [Bread(name).label(9) for name in names]
'''
TESTS = """from shop.bills import lines, total


def test_total():
    assert total(["a", "b"]) == 4


def test_lines():
    assert lines(["a"]) == ["    a    !"]
"""
FILES = {
    "src/shop/__init__.py": "",
    "src/shop/prices.py": PRICES,
    "src/shop/bills.py": BILLS,
    "tests/test_shop.py": TESTS,
}
# Each commit by what it replaces in which file; the last one breaks the suite.
HISTORY = (
    ("src/shop/bills.py", "Bread(name).label(9)", "Bread(name).label(width=9)"),
    ("src/shop/prices.py", "goods.amount * rate", "rate * goods.amount"),
    ("src/shop/prices.py", "return self.name.center", "return self.nothing.center"),
)
# A body that what the other side adds counts on; and two bodies that have nothing to do with each other.
CONFLICT = (
    ("src/shop/prices.py", "goods.amount * rate", "-goods.amount"),
    ("src/shop/bills.py", "return sum(", "return 2 * sum("),
)
CONTROL = (("src/shop/prices.py", "return None", "return 0"), ("src/shop/bills.py", "return sum(", "return 2 * sum("))


@dataclass(frozen=True)
class Data:
    """A project, and the repository of patches for its first commit."""

    project: Path
    conflicts: Path
    first: str


def make(folder: Path) -> Data:
    """The project with its history, and the patches."""
    project, conflicts = folder / "shop", folder / "conflicts"
    for each in (project, conflicts):
        each.mkdir(parents=True)
        git(each, "init", "--quiet")
    first = commit(project, FILES)
    names = {"conflict__001": CONFLICT, "control__001": CONTROL}
    commit(conflicts, {path: text for name in names for path, text in _instance(project, first, name, names[name])})
    for path, old, new in HISTORY:
        text = (project / path).read_text(encoding="utf-8")
        assert old in text
        commit(project, {path: text.replace(old, new)})
    return Data(project, conflicts, first)


def _instance(project: Path, first: str, name: str, sides: tuple[tuple[str, str, str], ...]) -> list[tuple[str, str]]:
    expected = "pass" if name.startswith("control") else "fail"
    told = {"id": name, "repo": "https://example.org/x/shop", "base_commit": first, "composition_expected": expected}
    found = [(f"instances/{name}/metadata.json", json.dumps(told))]
    for side, (path, old, new) in zip("ab", sides, strict=True):
        assert old in FILES[path]
        write(project, {path: FILES[path].replace(old, new)})
        found.append((f"instances/{name}/patch_{side}.patch", git(project, "diff") + "\n"))
        git(project, "checkout", "--quiet", ".")
    return found
