"""The working trees of a repository, as git has them written down."""

import os
from pathlib import Path
from typing import Final

_DOT_GIT: Final = ".git"


def worktrees(common: str) -> tuple[str, ...]:
    """The roots of all working trees of the repository whose folder, common to them, is `common`; links followed."""
    main = [os.path.dirname(common)] if os.path.basename(common) == _DOT_GIT else []
    linked = (_root(place) for place in sorted(Path(common, "worktrees").glob("*/gitdir")))
    return tuple(dict.fromkeys(os.path.realpath(root) for root in (*main, *linked) if root and os.path.isdir(root)))


def _root(place: Path) -> str | None:
    try:
        return os.path.dirname(place.read_text(encoding="utf-8", errors="surrogateescape").strip())
    except OSError:
        return None
