"""The shells that Codex starts for its model, and the cases in which they can become our launcher.

Codex sets variables in them that a project's settings name: bash reads the file that BASH_ENV names before it does
anything. The settings must also set SHLVL, so that shells begin at level 1: a bash at the outermost level that can use
no sockets assumes that rsh started it, and ignores BASH_ENV.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from commonhold.agents.marked_block import Marks, UnendedError, removed
from commonhold.code.regions.toml import parse_toml
from commonhold.machine.plain_files import read

SETTINGS: Final = ".codex/config.toml"
MARKS: Final = Marks("# ", " (shell)")
_POLICY: Final = "shell_environment_policy"
_GUARD: Final = "COMMONHOLD_GUARD"
_TAKEN: Final = ("BASH_ENV", "SHLVL")
_SYSTEM: Final = "/etc/codex/config.toml"


def variables(words: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables to set, with the values that the guard needs."""
    known = {f"COMMONHOLD_{name.upper()}": value for name, value in words.items()}
    return {"BASH_ENV": f"${_GUARD}", "SHLVL": "1", **known}


def obstacle(root: str, home: str, login_shell: str, inherited: str) -> str:
    """Return why they cannot become the launcher in the working tree at `root`; empty if they can: user settings stay.

    `home` is the folder of Codex, `inherited` the BASH_ENV that it would inherit.
    """
    if Path(login_shell).name != "bash":
        return (
            f"Codex uses {login_shell or 'no shell of its user'} here, and only bash can give commands to the launcher"
        )
    if inherited:
        return f"BASH_ENV is set already, to {inherited}"
    own = _bare(_text(f"{root}/{SETTINGS}"))
    if _parsed(own) and not _parsed(f"{own}\n[{_POLICY}.set]\n"):
        return f"{SETTINGS} has a set in its {_POLICY} already, which is not ours"
    places = {SETTINGS: own, "config.toml of Codex": _text(f"{home}/config.toml"), _SYSTEM: _text(_SYSTEM)}
    return next((f"{name} has {why}" for name, text in places.items() for why in _in_its_way(text)), "")


def _in_its_way(text: str) -> Iterator[str]:
    """Yield the settings of other authors that would prevent ours, or that ours would replace."""
    policy = _of(_parsed(text), _POLICY)
    if policy.get("include_only"):
        yield f"an include_only in its {_POLICY}, by which Codex leaves ours out"
    yield from (f"{name} in its {_POLICY} already, which is not ours" for name in _TAKEN if name in _of(policy, "set"))


def is_in_force(root: str) -> bool:
    """Whether the settings of the working tree at `root` make its shells become the launcher."""
    chosen = _of(_of(_parsed(_text(f"{root}/{SETTINGS}")), _POLICY), "set")
    return chosen.get("BASH_ENV") == f"${_GUARD}" and chosen.get("COMMONHOLD_ROOT") == root


def _of(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = table.get(name)
    return found if isinstance(found, Mapping) else {}


def _text(place: str) -> str:
    try:
        return (read(place) or b"").decode("utf-8-sig")
    except UnicodeDecodeError:
        return ""


def _bare(text: str) -> str:
    """Return the settings without our entries."""
    try:
        return removed(text, MARKS) or ""
    except UnendedError:
        return text


def _parsed(text: str) -> Mapping[str, Any]:
    """Return the parsed settings; empty if they cannot be read."""
    try:
        return parse_toml(text)
    except ValueError:
        return {}
