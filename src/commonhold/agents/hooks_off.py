"""The settings of an agent that turn off all its hooks, however well installed."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from commonhold.agents import shell_prefix
from commonhold.agents.json_text import setting

_CLAUDE: Final = (shell_prefix.SETTINGS, ".claude/settings.json")
_COPILOT: Final = (".github/copilot/settings.local.json", ".github/copilot/settings.json", *_CLAUDE)
"""Copilot obeys Claude Code's settings in a repository as well."""
_CLAUDE_MANAGED: Final = "/etc/claude-code/managed-settings.json"
_ALL_OFF: Final = "disableAllHooks"
_GEMINI: Final = ".gemini/settings.json"
_GEMINI_SYSTEM: Final = "/etc/gemini-cli/settings.json"
_HOOK_NAME: Final = "commonhold"


def turned_off(agent: str, root: str, home: str) -> str:
    """Return the setting that turns the hooks of an agent off in the working tree at `root`; empty if none does."""
    match agent:
        case "claude":
            if setting(_CLAUDE_MANAGED, "allowManagedHooksOnly") is True:
                return f"allowManagedHooksOnly in {_CLAUDE_MANAGED}"
            return _told_off([_CLAUDE_MANAGED, *(f"{root}/{name}" for name in _CLAUDE), f"{home}/{_CLAUDE[-1]}"])
        case "copilot":
            return _told_off([f"{root}/{name}" for name in _COPILOT])
        case "gemini":
            return _gemini(root, home)
        case _:
            return ""


def _told_off(places: Sequence[str]) -> str:
    place = _decided(places, (_ALL_OFF,), off=True)
    return f"{_ALL_OFF} in {place}" if place else ""


def _gemini(root: str, home: str) -> str:
    places = [_GEMINI_SYSTEM, f"{root}/{_GEMINI}", f"{home}/{_GEMINI}"]
    if place := _decided(places, ("hooksConfig", "enabled"), off=False):
        return f"hooksConfig.enabled in {place}"
    for place in places:
        disabled = setting(place, "hooksConfig", "disabled")
        if isinstance(disabled, list) and _HOOK_NAME in disabled:
            return f"hooksConfig.disabled in {place}"
    return ""


def _decided(places: Sequence[str], path: Sequence[str], *, off: bool) -> str:
    """Return the file in which hooks are turned off: of the files that set it, the nearest counts."""
    told: Iterator[tuple[str, Any]] = ((place, setting(place, *path)) for place in places)
    place, value = next(((place, value) for place, value in told if isinstance(value, bool)), ("", None))
    return place if value is off else ""
