"""The seven programs: five with hooks, two without."""

import json
from typing import Final

from tests.agents.cli import Cli, Place

CLAUDE: Final = Cli(
    name="claude",
    program="claude",
    package="@anthropic-ai/claude-code@2.1.332",
    command=lambda _place, prompt: [
        *("-p", prompt, "--model", "claude-sonnet-4-5", "--permission-mode", "bypassPermissions"),
        *("--output-format", "stream-json", "--verbose"),
    ],
    variables=lambda place: {
        "ANTHROPIC_BASE_URL": place.model,
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    },
)


CODEX: Final = Cli(
    name="codex",
    program="codex",
    package="@openai/codex@0.171.0",
    command=lambda place, prompt: [
        *("exec", "--json", "--trust", "--dangerously-bypass-approvals-and-sandbox"),
        *("--dangerously-bypass-hook-trust", "-m", "gpt-5.5"),
        *("-c", 'model_provider="scripted"'),
        *("-c", 'model_providers.scripted.name="scripted"'),
        *("-c", f'model_providers.scripted.base_url="{place.model}/v1"'),
        *("-c", 'model_providers.scripted.wire_api="responses"'),
        *("-c", "model_providers.scripted.supports_websockets=false"),
        *("-c", "model_providers.scripted.request_max_retries=0"),
        prompt,
    ],
    variables=lambda _place: {"OPENAI_API_KEY": "x"},
)


def _furnish_gemini(place: Place) -> None:
    folder = place.home / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))


GEMINI: Final = Cli(
    name="gemini",
    program="gemini",
    package="@google/gemini-cli@0.61.0",
    command=lambda _place, prompt: [
        *("-m", "gemini-2.5-pro", "--approval-mode", "yolo", "--output-format", "stream-json", "-p", prompt),
    ],
    variables=lambda place: {
        "GEMINI_API_KEY": "x",
        "GOOGLE_GEMINI_BASE_URL": place.model,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    },
    furnish=_furnish_gemini,
)

COPILOT: Final = Cli(
    name="copilot",
    program="copilot",
    package="@github/copilot@1.0.102",
    command=lambda _place, prompt: ["-p", prompt, "--allow-all", "--output-format", "json"],
    variables=lambda place: {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": f"{place.model}/v1",
        "COPILOT_PROVIDER_API_KEY": "scripted-key",
        "COPILOT_MODEL": "scripted",
        "COPILOT_ALLOW_ALL": "true",
    },
)


def _furnish_opencode(place: Place) -> None:
    """The scripted model as a provider, in the person's own configuration; npm is not to be asked for anything."""
    folder = place.home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{place.model}/v1", "apiKey": "x"},
        "models": {"scripted": {"name": "scripted", "tool_call": True}},
    }
    configuration = {"provider": {"scripted": provider}, "model": "scripted/scripted", "autoupdate": False}
    (folder / "opencode.json").write_text(json.dumps(configuration))
    (place.home / ".npmrc").write_text("fetch-retries=0\noffline=true\n")


OPENCODE: Final = Cli(
    name="opencode",
    program="opencode",
    package="opencode-ai@1.18.33",
    command=lambda _place, prompt: ["run", "--format", "json", prompt],
    variables=lambda _place: {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    },
    furnish=_furnish_opencode,
)

MINI: Final = Cli(
    name="mini-swe-agent",
    program="mini",
    package="mini-swe-agent==2.4.6",
    command=lambda _place, prompt: ["-m", "openai/scripted", "-t", f"\n{prompt}", "-y", "--exit-immediately"],
    variables=lambda place: {
        "MSWEA_CONFIGURED": "true",
        "MSWEA_COST_TRACKING": "ignore_errors",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENAI_API_KEY": "x",
        "OPENAI_API_BASE": f"{place.model}/v1",
    },
)

AIDER: Final = Cli(
    name="aider",
    program="aider",
    package="aider-chat==0.86.2",
    command=lambda _place, prompt: [
        *("--model", "openai/scripted", "--edit-format", "diff", "--yes-always", "--no-check-update"),
        *("--no-show-release-notes", "--no-show-model-warnings", "--no-analytics", "--no-stream"),
        *("--message", prompt, "app.py"),
    ],
    variables=lambda place: {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENAI_API_KEY": "x",
        "OPENAI_API_BASE": f"{place.model}/v1",
    },
)

HOOKED: Final = (CLAUDE, CODEX, GEMINI, OPENCODE, COPILOT)
HOOKLESS: Final = (MINI, AIDER)
