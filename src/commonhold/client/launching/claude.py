"""Run a shell script of Claude Code, which passes it to the launcher through CLAUDE_CODE_SHELL_PREFIX.

Claude Code has already checked the command against its user's rules. It names its session in the environment of this
process only.
"""

import os

from .command import attended
from .running import NOT_RUN, Allowance
from .speaking import say

_SHELLS = ("bash", "zsh")
# The beginning of the command, after the setup of the shell.
_COMMAND = " && eval "


def main(socket: str, when_down: str, root: str, script: str) -> int:
    """Run `script` under the daemon's supervision, and return its exit status as a shell reports it."""
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if not session:
        say("the command was not run: this Claude Code does not say which session it is. Next: update Claude Code")
        return NOT_RUN
    told = {"holder": f"claude:{session}", "root": root, "command": [_shell(), "-c", script]}
    return attended(socket, when_down, told, lambda allowance: [_shell(), "-c", _fitted(script, allowance)])


def _shell() -> str:
    """Return the shell for which Claude Code writes its scripts."""
    wished = (os.environ.get("CLAUDE_CODE_SHELL", ""), os.environ.get("SHELL", ""))
    return next((each for each in wished if os.path.basename(each) in _SHELLS), "bash")


def _fitted(script: str, allowance: "Allowance | None") -> str:
    """Return the script with our programs first in PATH, which the script's own setup of the shell has reset."""
    if allowance is None:
        return script
    setting_up, mark, rest = script.partition(_COMMAND)
    setting = allowance.path_setting
    return f"{setting_up} && {setting}{mark}{rest}" if setting and mark else script
