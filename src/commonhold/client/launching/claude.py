"""A script of Claude Code's, which its CLAUDE_CODE_SHELL_PREFIX gives to us in place of a shell.

It comes here after Claude Code has held the command in it against the rules of its user. Whose it is, the program that
starts it says in the environment of just this process.
"""

import os

from .command import attended
from .running import NOT_RUN, Allowance
from .speaking import say

_SHELLS = ("bash", "zsh")
# Where the command begins, after what sets its shell up, and where the shell tells in which folder it ended.
_COMMAND, _FOLDER = " && eval ", " && pwd -P >| "


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
    if "TMPDIR" in allowance.environment:
        _make_room(script, allowance)
    setting_up, mark, rest = script.partition(_COMMAND)
    setting = allowance.path_setting
    return f"{setting_up} && {setting}{mark}{rest}" if setting and mark else script


def _make_room(script: str, allowance: Allowance) -> None:
    """Let the shell tell its folder although it can make no file there: the file is made for it."""
    path = script.rpartition(_FOLDER)[2].strip("'")
    if path.startswith("/"):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        os.write(file, os.getcwdb())
        os.close(file)
        allowance.writable.append(path)
