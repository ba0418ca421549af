"""The MCP server that real agents are given in `make test-agents` serves its tools, and writes what it is told."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.agents import file_server

pytestmark = pytest.mark.slow


def test_it_lists_its_tools_and_writes_with_them(tmp_path: Path) -> None:
    path = str(tmp_path / "a.txt")
    calls = (
        ("write_file", {"path": path, "content": "one\n"}),
        ("edit_file", {"path": path, "edits": [{"oldText": "one", "newText": "two"}]}),
    )
    requests = [
        ("initialize", {"protocolVersion": "2025-06-18"}),
        ("tools/list", {}),
        *(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls),
    ]
    asked = [{"jsonrpc": "2.0", "id": at, "method": each, "params": more} for at, (each, more) in enumerate(requests)]
    words = [sys.executable, file_server.__file__]
    told = subprocess.run(words, input="\n".join(map(json.dumps, asked)), capture_output=True, text=True, check=True)
    results = [json.loads(line)["result"] for line in told.stdout.splitlines()]
    assert [tool["name"] for tool in results[1]["tools"]] == ["write_file", "edit_file"]
    assert results[3]["content"][0]["text"].startswith("Successfully")
    assert Path(path).read_text(encoding="utf-8") == "two\n"
