"""Which shell OpenCode uses, as far as it lets commands come to the launcher."""

import json
from pathlib import Path

import pytest

from commonhold.agents.opencode_shell import obstacle


@pytest.mark.parametrize("login", ["", "/bin/bash", "/usr/bin/fish", "nu", "/nonexistent/zsh"])
def test_it_is_bash_unless_another_is_chosen_that_it_can_use(login: str, tmp_path: Path) -> None:
    assert obstacle(str(tmp_path), str(tmp_path), login) == ""


@pytest.mark.parametrize("place", ["work/opencode.json", "home/.config/opencode/opencode.jsonc"])
def test_settings_come_before_the_environment(place: str, tmp_path: Path) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    for shell, login, is_kept in (("/bin/sh", "/bin/bash", False), ("bash", "/bin/sh", True)):
        file.write_text(json.dumps({"shell": shell}), encoding="utf-8")
        assert (obstacle(f"{tmp_path}/work", f"{tmp_path}/home", login) == "") is is_kept
