"""The shell commands of Gemini CLI, which reach our launcher by a file of ours that its shells read first.

Gemini takes variables from the first of several files named `.env`, and starts a bash for each command. That bash reads
the file which BASH_ENV names, before anything else. Hooks, MCP servers and commands of its user inherit the variable:
the file lets all of them pass and catches only the commands of Gemini's model.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from commonhold.agents.json_text import setting
from commonhold.agents.marked_block import HASH, UnendedError, removed

VARIABLE: Final = "BASH_ENV"
ENV_FILE: Final = ".gemini/.env"
FIRST_READ: Final = ".gemini/commonhold-shell"
_SETTINGS: Final = ".gemini/settings.json"
# bash expands the value, and Gemini cuts it at a quotation mark.
_SPECIAL: Final = re.compile(r"[$`\\\"\x00-\x1f]")
_SETS_IT: Final = re.compile(rf"^[ \t]*(?:export[ \t]+)?{VARIABLE}[ \t]*[=:]", re.MULTILINE)

_HIDING: Final = (
    f"{ENV_FILE} would hide {{}} from Gemini; move the variables that Gemini needs there, and install again"
)

_TEMPLATE: Final = """\
# Made by `commonhold install`, taken out by `commonhold uninstall`. Gemini's shells read it first (.gemini/.env).
# What Gemini makes of a command of its model's goes to our launcher, as it is; all else is left as it is.
case ${{GEMINI_CLI-}}:${{BASH_EXECUTION_STRING-}} in
1:"shopt -u "*"; _bgpids_file="*)
    unset BASH_ENV
    if [ -x {python} ] && [ -r {launch} ]; then
        exec {python} -I -S {launch} --gemini {socket} {policy} {root} "$BASH" "$BASH_EXECUTION_STRING"
    fi
    echo 'commonhold: the command was not run: the Python that watches over it is gone. Next: commonhold install' >&2
    exit 126
    ;;
esac
"""


def first_read(words: Sequence[str]) -> str:
    """Return the text of the file, which calls the launcher, by interpreter, launcher, socket, policy and root."""
    python, launch, socket, policy, root = map(shlex.quote, words)
    return _TEMPLATE.format(python=python, launch=launch, socket=socket, policy=policy, root=root)


def line(place: str) -> str:
    """Return the line that names the file at a path to Gemini."""
    return f'{VARIABLE}="{place}"'


def obstacle(root: str, home: str, env_file: str | None, inherited: str) -> str:
    """Return why commands in the working tree at `root` do not reach the launcher; empty if they do.

    `env_file` is the text of Gemini's own file of variables there, `inherited` the value that BASH_ENV has already.
    """
    if _SPECIAL.search(root):
        return f"the path of the repository has a sign in it that {VARIABLE} cannot hold"
    if inherited and not inherited.endswith(f"/{FIRST_READ}"):
        return f"{VARIABLE} is set in your environment, and Gemini keeps to that"
    for place in (f"{root}/{_SETTINGS}", f"{home}/{_SETTINGS}"):
        if setting(place, "security", "toolSandboxing") is True:
            return f"Gemini has a sandbox of its own for them (security.toolSandboxing in {place})"
    own = _without_ours(env_file)
    if own is None:
        hidden = next((place for place in _other_files(root, home) if Path(place).exists()), "")
        return _HIDING.format(hidden) if hidden else ""
    return f"{ENV_FILE} has a {VARIABLE} already, which is not ours" if _SETS_IT.search(own) else ""


def _without_ours(text: str | None) -> str | None:
    """Return the user's part of the file; None if there is no such file."""
    try:
        return None if text is None else removed(text, HASH)
    except UnendedError:
        return text


def _other_files(root: str, home: str) -> Iterator[str]:
    """Yield the files in which Gemini looks for variables after its own at `root`; the first existing one counts."""
    yield f"{root}/.env"
    for folder in Path(root).parents:
        yield from (f"{folder}/{ENV_FILE}", f"{folder}/.env")
    yield from (f"{home}/{ENV_FILE}", f"{home}/.env")
