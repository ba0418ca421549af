"""Settings by which an agent runs no hook at all. What counts where was tried with the real programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from commonhold.agents.hooks_off import turned_off

LOCAL, SHARED, HOME = "work/.claude/settings.local.json", "work/.claude/settings.json", ".claude/settings.json"
PROJECT, OWN = "work/.gemini/settings.json", ".gemini/settings.json"
COPILOTS = "work/.github/copilot/settings.json"
OFF, ON = {"disableAllHooks": True}, {"disableAllHooks": False}


def told(agent: str, folder: Path, files: dict[str, Any]) -> str:
    for name, shape in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(shape), encoding="utf-8")
    return turned_off(agent, str(folder / "work"), str(folder)).replace(f"{folder}/", "")


@pytest.mark.parametrize("place", [LOCAL, SHARED, HOME])
def test_claude_code_runs_none_wherever_it_is_told_so(place: str, tmp_path: Path) -> None:
    assert told("claude", tmp_path, {place: OFF}) == f"disableAllHooks in {place}"


@pytest.mark.parametrize("files", [{}, {LOCAL: ON, HOME: OFF}, {HOME: {"disableAllHooks": "yes"}}, {SHARED: []}])
def test_claude_code_runs_them_where_what_is_nearest_says_so(files: dict[str, Any], tmp_path: Path) -> None:
    assert told("claude", tmp_path, files) == ""


@pytest.mark.parametrize(
    ("files", "setting"),
    [
        ({OWN: {"hooksConfig": {"enabled": False}}}, f"hooksConfig.enabled in {OWN}"),
        ({PROJECT: {"hooksConfig": {"enabled": False}}}, f"hooksConfig.enabled in {PROJECT}"),
        (
            {PROJECT: {"hooksConfig": {"disabled": []}}, OWN: {"hooksConfig": {"disabled": ["commonhold"]}}},
            f"hooksConfig.disabled in {OWN}",
        ),
        ({PROJECT: {"hooksConfig": {"enabled": True}}, OWN: {"hooksConfig": {"enabled": False}}}, ""),
        ({PROJECT: {"hooksConfig": {"disabled": ["another"]}}, OWN: {"hooksConfig": {"disabled": 3}}}, ""),
        ({OWN: {"hooksConfig": None}}, ""),
    ],
)
def test_so_can_gemini_be_told(files: dict[str, Any], setting: str, tmp_path: Path) -> None:
    assert told("gemini", tmp_path, files) == setting


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({COPILOTS: OFF, LOCAL: ON}, COPILOTS),
        ({SHARED: OFF}, SHARED),
        ({LOCAL: OFF}, LOCAL),
        ({COPILOTS: ON, SHARED: OFF}, ""),
        ({LOCAL: ON, SHARED: OFF}, ""),
        ({HOME: OFF}, ""),
    ],
)
def test_copilot_heeds_what_claude_code_is_told_behind_its_own(
    files: dict[str, Any], place: str, tmp_path: Path
) -> None:
    assert told("copilot", tmp_path, files) == (f"disableAllHooks in {place}" if place else "")


def test_others_are_not_told_so_in_settings_that_are_looked_at(tmp_path: Path) -> None:
    assert told("opencode", tmp_path, {HOME: OFF}) == ""
