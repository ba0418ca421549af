"""docs/langgraph.md says what the example does, and names what there is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from commonhold.integrations import langgraph

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "langgraph.md").read_text(encoding="utf-8")


def test_the_example_does_what_the_page_shows() -> None:
    (shown,) = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / "langgraph_agents.py")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == shown


def test_every_public_name_is_on_the_page() -> None:
    told = set(re.findall(r"\w+", TEXT))
    assert set(langgraph.__all__) - {"Role", "holder_of", "leases_of"} <= told


def test_nothing_of_it_is_loaded_by_the_rest() -> None:
    code = (
        "import sys, commonhold.cli.main, commonhold.client.session, commonhold.server.mcp, commonhold.integrations;"
        "sys.exit(bool({'langgraph', 'langchain', 'langchain_core'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
