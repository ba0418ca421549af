"""The files that count without git: none that is hidden, built, or another project's."""

from collections.abc import Collection, Mapping
from typing import Final

from commonhold.workspace.files.canonical_paths import RESERVED
from commonhold.workspace.scan.listing import CACHED, ENVIRONMENT
from commonhold.workspace.scan.state import Folder

# Folders filled by tools, with names that no project uses for its own files.
_MADE: Final = frozenset({"__pycache__", "bower_components", "build", "dist", "node_modules", "target"})


class PlainRules:
    """The same rules for every folder and at every time: by names alone."""

    closing = RESERVED | {ENVIRONMENT, CACHED}

    def still(self, known: bytes) -> bytes | None:
        """Return the known rules: every decision holds."""
        return known

    def kept(self, folders: Mapping[str, Folder]) -> bytes:  # noqa: ARG002 - nothing decides that could change
        """Return nothing: there is nothing to store."""
        return b""

    def scope(self, names: Collection[str]) -> "PlainRules":  # noqa: ARG002 - each name speaks for itself
        """Return these rules: they need not look."""
        return self

    def has(self, path: str) -> bool:
        """Whether a file is not hidden."""
        return not _name(path).startswith(".")

    def entered(self, folders: Collection[str]) -> Collection[str]:
        """The folders that are neither hidden nor made by tools."""
        return [path for path in folders if self.has(path) and _name(path) not in _MADE]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
