"""A small project, a data set of features made for it, and a history with merges."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")

SHOP = """RATE = 2


def price(amount):
    return amount * RATE


def label(name):
    return name.title()


def total(amounts):
    return sum(amounts)
"""
TESTS = """import shop


def test_price():
    assert shop.price(2) == 4
"""
OTHER_TESTS = """import shop


def test_total():
    assert shop.total([1, 2]) > 0
"""
RUNNER = "cd /somewhere\npython -m pytest tests/test_shop.py -v\n"

# What each feature makes of the shop, by what it replaces; and its test.
FEATURES = {
    1: (("    return name.title()\n", "    return name.strip().title()\n"), 'assert shop.label(" a ").startswith("A")'),
    2: (("    return sum(amounts)\n", "    return sum(map(price, amounts))\n"), "assert shop.total([1, 2]) == 6"),
    3: (("    return name.title()\n", '    return name.title() + "!"\n'), 'assert shop.label("a").endswith("A!")'),
    4: (("def price(", "def cost("), "assert shop.cost(2) == 4"),
    5: (("RATE = 2\n", "RATE = 3\n"), "assert shop.price(2) == 5"),
}


@dataclass(frozen=True)
class Data:
    """Two repositories."""

    project: Path
    dataset: Path


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run([*GIT, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def commit(folder: Path, files: dict[str, str]) -> str:
    write(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "x")
    return git(folder, "rev-parse", "HEAD")


def make(folder: Path) -> Data:
    """The project at its first commit, and the data set of its features."""
    data = Data(folder / "shop.git", folder / "dataset.git")
    for each in (data.project, data.dataset):
        each.mkdir(parents=True)
        git(each, "init", "--quiet")
    tests = {"tests/test_shop.py": TESTS, "tests/test_other.py": OTHER_TESTS}
    base = commit(data.project, {"src/shop.py": SHOP, "notes.txt": "one\n", **tests})
    files = {"setup.sh": f'BASE_COMMIT="{base}"\n', "runner.sh": RUNNER}
    for number in FEATURES:
        files |= _feature(data.project, number)
    elsewhere = {"dataset/far_task/task9/setup.sh": f'BASE_COMMIT="{"1" * 40}"\n'}
    commit(data.dataset, {f"dataset/own_shop_task/task7/{name}": text for name, text in files.items()} | elsewhere)
    return data


def _feature(project: Path, number: int) -> dict[str, str]:
    (before, after), test = FEATURES[number]
    tests = TESTS.replace("price", "cost") if number == 4 else TESTS
    written = f"{tests}\n\ndef test_feature():\n    {test}\n"
    patches = {
        "feature.patch": _patch(project, {"src/shop.py": SHOP.replace(before, after), "tests/test_shop.py": "no\n"}),
        "tests.patch": _patch(project, {"tests/test_shop.py": written}),
    }
    return {f"feature{number}/{name}": text for name, text in patches.items()}


def _patch(project: Path, files: dict[str, str]) -> str:
    write(project, files)
    patch = git(project, "diff") + "\n"
    git(project, "checkout", "--quiet", ".")
    return patch


def merged(project: Path, path: str, ours: str, theirs: str, *, human: str) -> str:
    """A merge of two sides of `path`, as a human made it; its name."""
    start = git(project, "rev-parse", "HEAD")
    commit(project, {path: ours})
    mine = git(project, "rev-parse", "HEAD")
    git(project, "checkout", "--quiet", start)
    other = commit(project, {path: theirs})
    git(project, "checkout", "--quiet", "main")
    write(project, {path: human})
    git(project, "add", "--all")
    tree = git(project, "write-tree")
    made = git(project, "commit-tree", tree, "-p", mine, "-p", other, "-m", "merge")
    git(project, "reset", "--quiet", "--hard", made)
    return made
