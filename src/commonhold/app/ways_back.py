"""The command that brings a replaced text back, and nothing else: other changes of the file meanwhile stay. Pure."""

import shlex
from typing import Final

from commonhold.domain.keys import canonical

_DIGITS: Final = 16
"""Of a hash, as many as `commonhold show` wants at least."""


def way_back(key: str, before: str, after: str | None, agent: str) -> str:
    """What `agent` runs so that a region or file (`key`) is again what it was: by its hashes then and now.

    `after` is None where it is not there any more. Where it is there and another by then, the command is refused.
    """
    place = canonical(key)
    shown = f"commonhold show {before[:_DIGITS]}"
    if not place.is_region and after is None:
        return f"{shown} --to {shlex.quote(place.file_path)}"
    how = f"--base {after[:_DIGITS]}" if after else "--insert"
    return f"{shown} | commonhold commit --key {shlex.quote(key)} {how} --agent {shlex.quote(agent)}"
