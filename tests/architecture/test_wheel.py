"""The wheel stands alone: what `pip install` gives a user runs, away from this repository."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = '"""A sample."""\n\nimport os\n\n\ndef one():\n    return os.sep\n'

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command as a user's shell would: nothing of this environment's Python leaks in."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    result = subprocess.run(
        [*map(str, command)], cwd=cwd, env=environment, check=False, capture_output=True, text=True, timeout=500
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the locked dependencies, then the wheel, into a fresh environment; return its `bin`.

    The pip of this environment does it, and compiles nothing: a pip of its own and the bytecode of every dependency
    take most of a minute.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "venv")
    install = (*pip, "install", "--quiet", "--no-compile")
    run(*install, "--require-hashes", "-r", ROOT / "requirements.lock", cwd=folder)
    run(*install, "--no-deps", wheel, cwd=folder)
    run(*pip, "check", cwd=folder)
    return folder / "venv/bin"


def test_the_wheel_carries_its_data_and_nothing_else(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    assert "commonhold/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"commonhold"}


def test_it_runs_away_from_the_repository(installed: Path, tmp_path: Path) -> None:
    """Check both ways to start it, in one test: two could land on two workers, and each would install again."""
    (tmp_path / "sample.py").write_text(SAMPLE, encoding="utf-8")
    run("git", "init", "--quiet", cwd=tmp_path)
    assert version("commonhold") in run(installed / "commonhold", "--version", cwd=tmp_path)
    assert "sample.py#one" in run(installed / "python", "-m", "commonhold", "regions", "sample.py", cwd=tmp_path)
