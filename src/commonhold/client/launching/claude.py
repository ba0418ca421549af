"""A script of Claude Code's, which its CLAUDE_CODE_SHELL_PREFIX gives to us in place of a shell.

It comes here after Claude Code has held the command in it against the rules of its user. Whose it is, the program that
starts it says in the environment of just this process.
"""

import os

from .command import attended
from .running import NOT_RUN, Allowance
from .speaking import say

_SHELLS = ("bash", "zsh")
# Where the command begins, after what sets its shell up.
_COMMAND = " && eval "


def main(socket: str, when_down: str, root: str, script: str) -> int:
    """Run the script; its exit status, as a shell tells it."""
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if not session:
        say("the command was not run: this Claude Code does not say which session it is. Next: update Claude Code")
        return NOT_RUN
    told = {"holder": f"claude:{session}", "root": root, "command": [_shell(), "-c", script]}
    return attended(socket, when_down, told, lambda allowance: [_shell(), "-c", _fitted(script, allowance)])


def _shell() -> str:
    """The shell that Claude Code writes its scripts for."""
    wished = (os.environ.get("CLAUDE_CODE_SHELL", ""), os.environ.get("SHELL", ""))
    return next((each for each in wished if os.path.basename(each) in _SHELLS), "bash")


def _fitted(script: str, allowance: "Allowance | None") -> str:
    """The script with our programs first in its PATH, which what sets its shell up has made anew."""
    if allowance is None:
        return script
    setting_up, mark, rest = script.partition(_COMMAND)
    setting = allowance.path_setting
    return f"{setting_up} && {setting}{mark}{rest}" if setting and mark else script
