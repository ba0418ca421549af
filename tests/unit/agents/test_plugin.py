"""The plugin for Claude Code: its hooks are those that `install` writes, and its shell finds the command or blocks."""

import json
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from commonhold.agents.hook_tables import CLAUDE
from commonhold.agents.project_files import claude_command, claude_hooks

pytestmark = pytest.mark.slow

PLUGIN = Path(__file__).parents[3] / "plugins" / "claude-code"
SHELL = PLUGIN / "hooks" / "hook.sh"


def test_its_hooks_are_those_that_are_installed() -> None:
    script = 'exec /bin/sh "${CLAUDE_PLUGIN_ROOT}/hooks/hook.sh"'
    wanted: dict[str, list[dict[str, Any]]] = {}
    for hook in CLAUDE:
        call = claude_command(f"{script} {'gate' if hook.gates else 'tell'}")
        wanted.setdefault(hook.event, []).append(claude_hooks(hook, call))
    text = (PLUGIN / "hooks" / "hooks.json").read_text(encoding="utf-8")
    assert text == json.dumps({"hooks": wanted}, indent=2) + "\n"


def test_it_has_the_version_of_the_package() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert (manifest["name"], manifest["version"]) == ("commonhold", version("commonhold"))


def ran(kind: str, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", SHELL, kind], env={"PATH": str(path)}, input="payload", check=False, capture_output=True, text=True
    )


@pytest.mark.parametrize(("kind", "status"), [("gate", 2), ("tell", 1)])
def test_it_gives_back_what_the_command_says(kind: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "commonhold").write_text('#!/bin/sh\necho "$@"; read -r line; echo "$line"; exit 2\n', encoding="utf-8")
    (tmp_path / "commonhold").chmod(0o755)
    done = ran(kind, tmp_path)
    assert (done.returncode, done.stdout) == (status, "hook claude\npayload\n")


def test_without_the_command_nothing_is_written(tmp_path: Path) -> None:
    done = ran("gate", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install commonhold" in done.stderr
    assert ran("tell", tmp_path).returncode == 1
