"""`commonhold config`: the settings that hold here, and the source of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final
from urllib.parse import urlsplit

import click
from click.shell_completion import CompletionItem

from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.output import answer, shown
from commonhold.config import FILES, TEXT_VARIABLES, Settings, load_settings, origins
from commonhold.kernel.errors import Code, UsageError
from commonhold.workspace.repository import find_repository

_DEFAULT: Final = "default"
_NAMES: Final = tuple(each.name for each in fields(Settings))
_ADDRESSES: Final = ("store", "broker")
_FOR_USERS: Final = ("tests", "workspaces", "broker")
"""Those that no repository chooses; their meaning names the variable."""
_VARIABLES: Final = (*TEXT_VARIABLES, "daemon")


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as it holds here: `origin` is "default", the name of a file or of a variable, or "option"."""

    name: str
    value: Any
    default: Any
    origin: str

    @property
    def is_default(self) -> bool:
        """Whether no file or variable sets it."""
        return self.origin == _DEFAULT


def settings_of(root: str, store: str | None) -> list[Setting]:
    """Return all settings of the repository at `root`. Raises InputError `CONFIG_INVALID`."""
    values, where = asdict(load_settings(root, store=store)), origins(root, store=store)
    defaults = asdict(Settings())
    return [Setting(name, values[name], defaults[name], where.get(name, _DEFAULT)) for name in _NAMES]


def told(name: str, value: object) -> str:
    """Return a value as it may be pasted into a report: the address of a store may contain a password."""
    match value:
        case str() if name in _ADDRESSES and value:
            parts = urlsplit(value)
            return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"{value:,}".removesuffix(".0")
        case Mapping():
            return ", ".join(f"{each} {_inner(word)}" for each, word in value.items()) or "none"
        case list() | tuple():
            return ", ".join(map(str, value)) or "none"
        case _:
            return str(value) or "none"


def _inner(value: object) -> str:
    return f"({told('', value)})" if isinstance(value, Mapping) else str(value)


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in _NAMES if name.startswith(incomplete)]


@click.command("config", cls=Command, examples=("commonhold config", "commonhold config ttl_seconds"))
@click.argument("name", metavar="[NAME]", required=False, shell_complete=_complete)
@common
@click.pass_obj
def command(given: Given, name: str | None) -> None:
    """Show every setting, its value here, and its source; with NAME also its meaning.

    The source is a variable such as COMMONHOLD_STORE, else commonhold.toml at the root of the repository, else
    [tool.commonhold] in pyproject.toml, else the default. To change a setting, write it into commonhold.toml.
    """
    every = settings_of(find_repository(start_of(given)).root, given.store)
    if name is None:
        answer(given, every, _shape, _lines)
        return
    found = next((each for each in every if each.name == name), None)
    if found is None:
        raise _unknown(name)
    answer(given, found, _one, _described)


def _unknown(name: str) -> UsageError:
    # Loaded here: usually the name is right.
    from difflib import get_close_matches  # noqa: PLC0415

    near = [each for each in _NAMES if name in each] or get_close_matches(name, _NAMES, n=2)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return UsageError(Code.USAGE, f"there is no setting {name!r}", hint=f"{meant}`commonhold config` lists all of them")


def _shape(every: Sequence[Setting]) -> dict[str, object]:
    return {"settings": [_one(each) for each in every]}


def _one(setting: Setting) -> dict[str, object]:
    value = told(setting.name, setting.value) if setting.name in _ADDRESSES and setting.value else setting.value
    return {"name": setting.name, "value": value, "default": setting.default, "origin": setting.origin}


def _lines(every: Sequence[Setting]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*map(_cells, every), strict=True)]
    for each in every:
        name, value, origin = _cells(each)
        yield f"{name:<{widths[0]}}  {value:<{widths[1]}}  {origin}".rstrip()


def _cells(setting: Setting) -> tuple[str, str, str]:
    return setting.name, shown(told(setting.name, setting.value)), shown(setting.origin)


def _described(setting: Setting) -> Iterator[str]:
    # Loaded here: the list needs none of it.
    from commonhold.cli.setting_meanings import MEANINGS  # noqa: PLC0415

    by_default = "" if setting.is_default else f"; default: {told(setting.name, setting.default)}"
    yield f"{setting.name} = {shown(told(setting.name, setting.value))}  ({shown(setting.origin)}{by_default})"
    yield MEANINGS[setting.name]
    variable = f"; or the variable COMMONHOLD_{setting.name.upper()}" if setting.name in _VARIABLES else ""
    if setting.name not in _FOR_USERS:
        yield f"set it in {FILES[0]}{variable}"
