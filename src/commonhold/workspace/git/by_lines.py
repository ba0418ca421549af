"""Settings under which git merges by lines alone: no configured driver is run, not even ours."""

import os
from typing import Final

from commonhold.workspace.git.process import Git

_BY_LINES: Final = "git merge-file --quiet --marker-size=%L %A %O %B"


def only_by_lines(git: Git) -> dict[str, str]:
    """Return the settings; whatever driver a file has, lines decide."""
    listed = git.run("config", "-z", "--name-only", "--get-regexp", r"^merge\..*\.driver$").stdout.split(b"\0")
    named = {os.fsdecode(name): _BY_LINES for name in listed if name}
    return {"merge.default": "text", "rerere.enabled": "false", **named}
