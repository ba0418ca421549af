"""Type checkers, spoken to as language servers: what they newly say of a change, before it is made."""

import os
from collections.abc import Mapping

from commonhold.adapters.typecheck.asking import Patience
from commonhold.adapters.typecheck.checker import ServerChecker
from commonhold.adapters.typecheck.checkers import Checkers
from commonhold.adapters.typecheck.copied import CopyCheckers
from commonhold.adapters.typecheck.servers import SERVERS
from commonhold.app.typing import TypeChecker

__all__ = ["Checkers", "CopyCheckers", "Patience", "ServerChecker", "open_checkers"]


def open_checkers(root: str, environment: Mapping[str, str] | None = None) -> TypeChecker:
    """All checkers that are known, for the working tree at `root`. No process is started before it is asked."""
    given = dict(os.environ) if environment is None else environment
    return Checkers([ServerChecker(server, root, given) for server in SERVERS])
