"""The plugin in OpenCode, run by a real Node: which calls it asks about, and what it does with the answers."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

NODE = shutil.which("node")
PLUGIN = Path(__file__).parents[3] / "src" / "commonhold" / "agents" / "opencode_plugin.js"
# What is asked is written down line by line; a call that names a file `held` is refused.
ASKED = """\
#!/bin/sh
payload=$(cat)
printf '%s\\n' "$payload" >> "$(dirname "$0")/asked"
case "$payload" in *'"event":"before"'*held*) echo '{"deny": "held by ann"}' ;; esac
"""
SCRIPT = """\
import { Commonhold } from "./plugin.mjs"
const hooks = await Commonhold({ directory: "/repo" })
const [tool, args] = JSON.parse(process.argv[2])
const call = { tool, sessionID: "s", callID: "c" }
try {
  await hooks["tool.execute.before"](call, { args })
  await hooks["tool.execute.after"]({ ...call, args }, { output: "", metadata: {} })
} catch (fault) {
  console.log(fault.message)
}
"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NODE is None, reason="there is no Node to run the plugin with"),
]


def run(folder: Path, tool: str, args: dict[str, Any]) -> tuple[list[tuple[str, str, str]], str]:
    """The event, tool and id of each call that it told of, and what it threw."""
    ask = folder / "ask.sh"
    ask.write_text(ASKED, encoding="utf-8")
    ask.chmod(0o755)
    text = PLUGIN.read_text(encoding="utf-8").replace('"MARK"', "", 1).replace('"GUARDING"', "[]", 1)
    for name in ('"GATING"', '"TELLING"'):
        text = text.replace(name, json.dumps([str(ask)]), 1)
    folder.joinpath("plugin.mjs").write_text(text, encoding="utf-8")
    folder.joinpath("run.mjs").write_text(SCRIPT, encoding="utf-8")
    words = [str(NODE), "run.mjs", json.dumps([tool, args])]
    done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    asked = folder / "asked"
    told = [json.loads(line) for line in asked.read_text(encoding="utf-8").splitlines()] if asked.exists() else []
    return [(each["event"], each["tool"], each["callID"]) for each in told], done.stdout.strip()


def test_a_tool_of_a_server_that_names_a_file_is_asked_about(tmp_path: Path) -> None:
    told, fault = run(tmp_path, "files_write_file", {"path": "a.py", "content": "x"})
    assert told == [("before", "files_write_file", "c"), ("after", "files_write_file", "c")]
    assert fault == ""


@pytest.mark.parametrize(("tool", "args"), [("echo_say", {"text": "hi"}), ("grep", {"path": "src", "pattern": "x"})])
def test_what_names_no_file_or_only_searches_is_not(tool: str, args: dict[str, Any], tmp_path: Path) -> None:
    assert run(tmp_path, tool, args) == ([], "")


def test_the_calls_in_a_batch_are_asked_about_one_by_one(tmp_path: Path) -> None:
    edits = [{"tool": "edit", "parameters": {"filePath": each}} for each in ("a.py", "b.py")]
    told, _ = run(tmp_path, "batch", {"tool_calls": [*edits, {"tool": "glob", "parameters": {"pattern": "*"}}]})
    assert told == [(event, "edit", f"c/{place}") for event in ("before", "after") for place in (0, 1)]


def test_a_batch_with_a_call_that_is_refused_does_not_begin(tmp_path: Path) -> None:
    edits = [{"tool": "edit", "parameters": {"filePath": each}} for each in ("a.py", "held.py", "b.py")]
    told, fault = run(tmp_path, "batch", {"tool_calls": edits})
    assert told == [("before", "edit", "c/0"), ("before", "edit", "c/1"), ("failed", "edit", "c/0")]
    assert fault == "held by ann"
