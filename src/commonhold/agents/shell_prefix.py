"""The program that Claude Code starts in place of a shell: CLAUDE_CODE_SHELL_PREFIX in its settings names it.

Claude Code reads the value as the path of one program, and the text after its last " -" as arguments of it; MCP servers
it starts by the whole value. So our program is a file without arguments, at a path that contains no " -".
"""

import shlex
from collections.abc import Sequence
from typing import Final

from commonhold.agents.json_text import setting
from commonhold.workspace.git.worktrees import main_of

VARIABLE: Final = "CLAUDE_CODE_SHELL_PREFIX"
SETTINGS: Final = ".claude/settings.local.json"
_SHARED: Final = ".claude/settings.json"
WRAPPER: Final = ".claude/commonhold-shell"
_ENDS_PROGRAM: Final = " -"

_TEMPLATE: Final = """\
#!/bin/sh
# Made by `commonhold install`, taken out by `commonhold uninstall`. Claude Code starts this in place of a shell.
# Hooks of its user and servers of MCP are none of its model's commands, and are left as they are.
case $AI_AGENT:$1 in
*" && pwd -P >| "*) ;;
*_harness:*) exec /bin/sh -c "$1" ;;
esac
test -x {python} && test -r {launch} && exec {python} -I -S {launch} --claude {socket} {policy} "${{0%/.claude/*}}" "$1"
echo 'commonhold: the command was not run: the Python that watches over it is gone. Next: commonhold install' >&2
exit 126
"""


def wrapper(words: Sequence[str]) -> str:
    """Return the text of the program, which calls the launcher: interpreter, launcher, socket and policy."""
    python, launch, socket, policy = map(shlex.quote, words)
    return _TEMPLATE.format(python=python, launch=launch, socket=socket, policy=policy)


def is_ours(value: object) -> bool:
    """Whether the variable names a program of ours."""
    return isinstance(value, str) and value.endswith(f"/{WRAPPER}")


def obstacle(root: str, home: str) -> str:
    """Return why the program cannot be set in the working tree at `root`; empty if it can: user settings stay."""
    if _ENDS_PROGRAM in root:
        return f'the path of the repository has " -" in it, where Claude Code would cut that of {VARIABLE}'
    places = {f"{root}/{SETTINGS}": SETTINGS, f"{root}/{_SHARED}": _SHARED, f"{home}/{_SHARED}": f"~/{_SHARED}"}
    taken = next((name for place, name in places.items() if (value := _named(place)) and not is_ours(value)), "")
    return f"{taken} has a {VARIABLE} already, which is not ours" if taken else ""


def is_in_force(root: str) -> bool:
    """Whether Claude Code's settings name our program in the working tree at `root`.

    In a linked one it also reads the settings of the main working tree, which its own override.
    """
    trees = [root, main] if (main := main_of(root)) else [root]
    named = next(filter(None, (_named(f"{tree}/{SETTINGS}") for tree in trees)), "")
    return named in [f"{tree}/{WRAPPER}" for tree in trees]


def _named(place: str) -> str:
    """Return the program that settings name; empty if they cannot be read."""
    return str(setting(place, "env", VARIABLE) or "")
