"""The command that restores a replaced text and nothing else: other changes of the file since then stay. Pure."""

import shlex
from typing import Final

from commonhold.kernel.keys import canonical

_DIGITS: Final = 16
"""The least number of hash digits that `commonhold show` accepts."""


def way_back(key: str, before: str, after: str | None, agent: str) -> str:
    """Return the command with which `agent` restores a region or file (`key`), by its hashes then and now.

    `after` is None if it no longer exists. The command is refused if the content has changed again by then.
    """
    place = canonical(key)
    shown = f"commonhold show {before[:_DIGITS]}"
    if not place.is_region and after is None:
        return f"{shown} --to {shlex.quote(place.file_path)}"
    how = f"--base {after[:_DIGITS]}" if after else "--insert"
    return f"{shown} | commonhold commit --key {shlex.quote(key)} {how} --agent {shlex.quote(agent)}"
