"""docs/agents.md says of every agent what installing it writes, and how far it is then kept to what was agreed."""

import re
from pathlib import Path

import pytest

from commonhold.agents.hook_commands import Ways
from commonhold.agents.setup import Level
from commonhold.agents.setups import SETUPS

TEXT = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
WAYS = Ways("/python", "/hook_program.py", "/socket", wrapper="/w", codex_root="/w")


def cells(table: str) -> dict[str, list[str]]:
    """The rows of the table with this heading, by their first cell."""
    (rows,) = re.findall(rf"^\| {re.escape(table)} \|.*\n\|[ -|]*\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    split = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines()]
    return {row[0].strip("`"): row[1:] for row in split}


@pytest.mark.parametrize("name", SETUPS)
def test_the_files_of_every_agent(name: str) -> None:
    setup = SETUPS[name]
    told = cells("agent | files")[name][0]
    for piece in (*setup.hooks(WAYS), *setup.servers(WAYS)):
        assert all(path in told for path in piece.paths)


@pytest.mark.parametrize("name", [name for name in SETUPS if name != "agents-md"])
def test_the_level_of_every_agent(name: str) -> None:
    setup = SETUPS[name]
    edits, shell, _ = cells("agent | edits | shell commands | to know")[name]
    assert edits == f"`{setup.level}`"
    assert (shell == "`enforced`") is setup.keeps_shell


def test_every_level_is_explained() -> None:
    assert set(cells("level | means")) == set(Level)


def test_every_agent_is_named_where_installing_is_described() -> None:
    (call,) = re.findall(r"^`commonhold install \[(.*)\]\.\.\.`$", TEXT, re.MULTILINE)
    assert call.split("|") == [*SETUPS, "git", "all"]
