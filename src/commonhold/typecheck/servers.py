"""The known language servers.

The effects of a workspace's own settings on them were checked, since a workspace need not be trusted. ty reads
`ty.toml` and `pyproject.toml`: they can switch rules on and off and name folders to read; it starts no program and
opens no connection. TypeScript reads `tsconfig.json`; it would fetch missing type packages with npm, so that is
switched off. The older `typescript-language-server` runs any TypeScript in the workspace, and does not work with
version 7, which has a server of its own; so it is not here.
"""

from typing import Final

from commonhold.typecheck.server import Server

TY: Final = Server(
    name="ty",
    languages={".py": "python", ".pyi": "python"},
    program="ty",
    arguments=("server",),
    install="pip install 'commonhold[types]'",
    settings={"ty": {"diagnosticMode": "openFilesOnly"}},
    ground=("ty.toml", "pyproject.toml", ".venv/pyvenv.cfg", ".venv/lib/*/site-packages"),
)

_NO_DOWNLOADS: Final = {
    "disableAutomaticTypeAcquisition": True,
    "tsserver": {"automaticTypeAcquisition": {"enabled": False}},
}

TYPESCRIPT: Final = Server(
    name="typescript",
    languages={
        ".ts": "typescript",
        ".mts": "typescript",
        ".cts": "typescript",
        ".tsx": "typescriptreact",
        ".js": "javascript",
        ".mjs": "javascript",
        ".cjs": "javascript",
        ".jsx": "javascriptreact",
    },
    program="tsc",
    arguments=("--lsp", "--stdio"),
    since="7",
    install="npm install -g typescript@7",
    settings={"js/ts": _NO_DOWNLOADS, "typescript": _NO_DOWNLOADS, "javascript": _NO_DOWNLOADS},
    sees_unsaved=True,
    ground=("tsconfig.json", "jsconfig.json", "package.json", "node_modules"),
)

SERVERS: Final = (TY, TYPESCRIPT)
