"""The house and its direction: `.importlinter` holds, and each of its contracts can fail."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from importlinter.cli import lint_imports_command as run; run()"

HOUSE = "A package imports only packages below it"
PURE = "Pure packages have no clock, chance, disk, process or network"
ACYCLIC = "Siblings do not import each other in a circle"

# What is planted (file: appended text), and the contract that must break.
VIOLATIONS = {
    "upwards": (HOUSE, {"kernel/planted.py": "import commonhold.code.regions\n"}),
    "upwards through the SDK": (
        HOUSE,
        {"kernel/planted.py": "import commonhold\n", "__init__.py": "import commonhold.code.regions\n"},
    ),
    "a package that is not listed": (HOUSE, {"planted/__init__.py": ""}),
    "a clock": (PURE, {"code/regions/planted.py": "import time\n"}),
    "a circle": (
        ACYCLIC,
        {
            "kernel/planted.py": "import commonhold.kernel.keys\n",
            "kernel/keys.py": "import commonhold.kernel.planted\n",
        },
    ),
}


def lint_imports(source: Path) -> subprocess.CompletedProcess[str]:
    """Run the contracts over the package in `source`, which may be a copy."""
    command = [sys.executable, "-c", RUN, str(source), "--no-cache", "--no-logo", str(ROOT / ".importlinter")]
    return subprocess.run(command, cwd=source, check=False, capture_output=True, text=True)


def append(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(text)


def test_every_package_keeps_to_its_place() -> None:
    result = lint_imports(ROOT / "src")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_planted_violation_is_caught(name: str, tmp_path: Path) -> None:
    contract, planted = VIOLATIONS[name]
    package = tmp_path / "src" / "commonhold"
    # Other processes keep bytecode in there: its files come and go while they are copied.
    shutil.copytree(ROOT / "src" / "commonhold", package, ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in planted.items():
        append(package / path, text)
    result = lint_imports(package.parent)
    assert f"{contract} BROKEN" in result.stdout, result.stdout + result.stderr
    assert "planted" in result.stdout


def test_trees_of_python_are_made_in_one_place() -> None:
    """Elsewhere a parse would fail when another thread makes a tree, see `code/regions/python_ast.py`."""
    sources = (ROOT / "src/commonhold").rglob("*.py")
    assert [path.name for path in sources if "ast.parse(" in path.read_text()] == ["python_ast.py"]
