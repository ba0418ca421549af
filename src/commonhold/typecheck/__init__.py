"""Type checkers, used as language servers: their new complaints about a change, before it is made."""

import os
from collections.abc import Mapping

from commonhold.code.type_checkers import TypeChecker
from commonhold.typecheck.checker import ServerChecker
from commonhold.typecheck.checkers import Checkers
from commonhold.typecheck.comparison import Patience
from commonhold.typecheck.copied_files import CopyCheckers
from commonhold.typecheck.servers import SERVERS

__all__ = ["Checkers", "CopyCheckers", "Patience", "ServerChecker", "open_checkers"]


def open_checkers(root: str, environment: Mapping[str, str] | None = None) -> TypeChecker:
    """Return all known checkers, for the working tree at `root`. The first query starts the first process."""
    given = dict(os.environ) if environment is None else environment
    return Checkers([ServerChecker(server, root, given) for server in SERVERS])
