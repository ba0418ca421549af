"""A script of Claude Code, which its CLAUDE_CODE_SHELL_PREFIX passes to the launcher in place of a shell.

It comes here after Claude Code has checked the command in it against the rules of its user. The program that starts it
names its session in the environment of just this process.
"""

import os

from .command import attended
from .running import NOT_RUN, Allowance
from .speaking import say

_SHELLS = ("bash", "zsh")
# The beginning of the command, after the setup of the shell.
_COMMAND = " && eval "


def main(socket: str, when_down: str, root: str, script: str) -> int:
    """Run the script; return its exit status, as a shell reports it."""
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
    """Return the script with our programs first in its PATH, which the setup of its shell has made anew."""
    if allowance is None:
        return script
    setting_up, mark, rest = script.partition(_COMMAND)
    setting = allowance.path_setting
    return f"{setting_up} && {setting}{mark}{rest}" if setting and mark else script
