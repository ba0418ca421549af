"""The agents as data: how each is found, what lets it be coordinated, how far that keeps it, and what is left to do."""

from collections.abc import Iterator, Mapping
from typing import Final

from commonhold.agents import gemini_shell, shell_prefix, wiring
from commonhold.agents.calling import Ways
from commonhold.agents.setup import Level, Setup

_ALL: Final = (
    Setup(
        "claude",
        "Claude Code",
        ("claude",),
        (".claude", "CLAUDE.md"),
        wiring.claude,
        wiring.server(wiring.MCP_JSON, "mcpServers"),
        Level.GATED,
        "its hooks decide before an edit, and block where they fail (from Claude Code 2.1.295 on)",
        "start `claude` anew: a session that runs already may not have the hooks",
        blocks_since=(2, 1, 295),
        keeps_shell=True,
    ),
    Setup(
        "codex",
        "Codex CLI",
        ("codex",),
        (".codex",),
        wiring.codex,
        wiring.codex_server,
        Level.GATED_OPEN,
        "its hooks decide before an edit; where one fails or takes too long, Codex goes on without it",
        "run `codex` here, trust the folder, and trust these hooks with /hooks: until then Codex leaves them out "
        "without a word, and no shell command runs in its sandbox",
        keeps_shell=True,
        keeps_since=(0, 171, 0),
        nests_shell=True,
    ),
    Setup(
        "gemini",
        "Gemini CLI",
        ("gemini",),
        (".gemini", "GEMINI.md"),
        wiring.gemini,
        wiring.server(".gemini/settings.json", "mcpServers"),
        Level.GATED_OPEN,
        "its hooks decide before an edit; where one crashes or takes too long, Gemini goes on without it",
        "run `gemini` here and trust the folder: it leaves the settings of others out",
        keeps_shell=True,
        keeps_since=(0, 61, 0),
    ),
    Setup(
        "opencode",
        "OpenCode",
        ("opencode",),
        (".opencode", "opencode.json", "opencode.jsonc", ".config/opencode"),
        wiring.opencode,
        wiring.opencode_server,
        Level.GATED,
        "its plugin decides before an edit, and blocks where it fails",
        "start `opencode` anew: it loads plugins as it starts",
        keeps_shell=True,
    ),
    Setup(
        "copilot",
        "GitHub Copilot CLI",
        ("copilot",),
        (".copilot", ".github/hooks"),
        wiring.copilot,
        wiring.server(wiring.MCP_JSON, "mcpServers"),
        Level.GATED_OPEN,
        "its hooks decide before an edit and block where they fail, but not where they take too long",
        "run `copilot` here and trust the folder; for `copilot -p` set GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true",
    ),
    Setup(
        "cursor",
        "Cursor",
        ("cursor", "cursor-agent"),
        (".cursor",),
        wiring.cursor,
        wiring.server(".cursor/mcp.json", "mcpServers"),
        Level.GATED,
        "its hooks decide before an edit, and block where they fail (as documented; not tried)",
        "trust the workspace in Cursor, and look at the hooks in its settings",
    ),
    Setup(
        "vscode",
        "VS Code",
        ("code",),
        (".vscode",),
        wiring.copilot,
        wiring.server(".vscode/mcp.json", "servers", type="stdio"),
        Level.GATED_OPEN,
        "its hooks decide before an edit; what comes of one that fails is not known (as documented; not tried)",
        "trust the workspace in VS Code; it reads the hooks of the Copilot CLI",
    ),
    Setup(
        "agents-md",
        "AGENTS.md",
        (),
        (),
        wiring.agents_md,
        wiring.nothing,
        Level.DETECTED,
        "agents without hooks are told how to work here; nothing but the watcher and the merge holds them to it",
    ),
)
SETUPS: Final[Mapping[str, Setup]] = {each.name: each for each in _ALL}


def _hook_files() -> Iterator[str]:
    anywhere = Ways("", "", "", wrapper=shell_prefix.WRAPPER, codex_root="/", bash_env=gemini_shell.FIRST_READ)
    for setup in _ALL:
        for piece in setup.hooks(anywhere):
            yield from piece.paths if piece.is_local else ()


HOOK_FILES: Final = tuple(dict.fromkeys(_hook_files()))
"""The files of a project that the levels of its agents depend on."""
