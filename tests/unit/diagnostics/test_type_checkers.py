"""What doctor says of type checkers."""

import os
from pathlib import Path

import pytest
from tests.patience import PATIENCE_SECONDS

from commonhold.diagnostics import type_checkers as module
from commonhold.diagnostics.finding import Level
from commonhold.diagnostics.type_checkers import type_checkers


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is slow to start must not be taken for one that says nothing."""
    monkeypatch.setattr(module, "_TIMEOUT_SECONDS", PATIENCE_SECONDS)


def put(folder: Path, script: str) -> None:
    """Put a program named tsc there, as npm would, that runs a script."""
    (folder / "package" / "bin").mkdir(parents=True)
    (folder / "package" / "package.json").write_text('{"version": "7.9.1"}')
    program = folder / "package" / "bin" / "tsc"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    (folder / "tsc").symlink_to(program)


def test_one_that_is_there_says_its_version() -> None:
    found = {finding.check: finding for finding in type_checkers(os.environ)}
    assert found["ty"].level is Level.OK
    assert found["ty"].facts["version"] == "0.0.108"
    assert "compares types in .py, .pyi" in found["ty"].found


@pytest.mark.parametrize(
    ("script", "level", "words"),
    [
        ("echo Version 7.9.1", Level.OK, "7.9.1 at "),
        ("exit 3", Level.WARN, "does not say its version"),
        ("true", Level.WARN, "does not say its version"),
        ("kill -9 $$", Level.WARN, "does not say its version"),
    ],
)
def test_one_that_does_not_run_is_warned_of(script: str, level: Level, words: str, tmp_path: Path) -> None:
    put(tmp_path, script)
    (_, found) = type_checkers({"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert (found.check, found.level) == ("typescript", level)
    assert words in found.found
    assert bool(found.mend) is (level is Level.WARN)


def test_one_that_is_missing_is_nothing_bad_and_says_how_to_get_it(tmp_path: Path) -> None:
    (_, found) = type_checkers({"PATH": str(tmp_path)})
    assert found.level is Level.OK
    assert found.found.startswith("tsc 7 or newer not found: types in .ts, .mts,")
    assert found.found.endswith("are not compared (npm install -g typescript@7)")
