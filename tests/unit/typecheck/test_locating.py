"""Where a server's program may come from."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from commonhold.typecheck.server_programs import locate, npm_version
from commonhold.typecheck.servers import SERVERS, TY, TYPESCRIPT

pytestmark = pytest.mark.slow


def program(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return folder / name


def npm_package(folder: Path, version: str) -> Path:
    """An npm package with a program, and the link to it that npm makes."""
    real = program(folder / "lib" / "typescript" / "bin", "tsc")
    (folder / "lib" / "typescript" / "package.json").write_text(f'{{"name": "typescript", "version": {version}}}')
    (folder / "bin").mkdir()
    (folder / "bin" / "tsc").symlink_to(real)
    return folder / "bin" / "tsc"


def test_it_is_taken_from_beside_the_interpreter_first(tmp_path: Path) -> None:
    other = program(tmp_path, "ty")
    assert locate(TY, {"PATH": str(tmp_path)}) == str(Path(sys.executable).parent / "ty")
    assert locate(replace(TY, program="other-ty"), {"PATH": str(tmp_path)}) is None
    assert locate(replace(TY, program="one"), {"PATH": str(tmp_path)}) is None
    program(tmp_path, "one")
    assert locate(replace(TY, program="one"), {"PATH": str(other.parent)}) == str(tmp_path / "one")


@pytest.mark.parametrize("path", ["", ".", "node_modules/.bin", ":", "./bin:", "bin:/nowhere"])
def test_what_merely_lies_in_the_current_folder_is_not_started(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (".", "bin", "node_modules/.bin"):
        program(tmp_path / folder, "tsc")
    monkeypatch.chdir(tmp_path)
    assert all(locate(replace(server, program="tsc", since=""), {"PATH": path}) is None for server in SERVERS)


@pytest.mark.parametrize(
    ("version", "is_server"),
    [('"7.0.2"', True), ('"10.1.0-beta"', True), ('"5.9.3"', False), ("null", False), ("[", False)],
)
def test_a_typescript_that_is_no_server_is_none(version: str, tmp_path: Path, *, is_server: bool) -> None:
    found = npm_package(tmp_path, version)
    assert locate(TYPESCRIPT, {"PATH": str(found.parent)}) == (str(found) if is_server else None)
    assert npm_version(str(found)) == (version.strip('"') if version.startswith('"') else "")


def test_a_program_of_no_package_has_no_version(tmp_path: Path) -> None:
    assert npm_version(str(program(tmp_path, "tsc"))) == ""
    assert locate(TYPESCRIPT, {"PATH": str(tmp_path)}) is None
