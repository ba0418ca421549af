"""The effects of an agent's tools on files and on things with names: a table, a line for each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from commonhold.agents.hook_events import IntendedWrite, Removed, Swap, Whole

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Writes:
    """The tool writes files. A commit makes its writes instead; the tool itself does not run."""

    wishes: Callable[[Arguments], Sequence[IntendedWrite]]


@dataclass(frozen=True, slots=True)
class Reads:
    """The tool shows the agent these files, whole or in part."""

    paths: Callable[[Arguments], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Holds:
    """The tool changes things that these keys stand for, `account:12345` say: they are leased while it runs."""

    keys: Callable[[Arguments], Sequence[str]]
    wait_seconds: float = 0.0


Role = Writes | Reads | Holds


def _path(given: Arguments) -> str:
    return str(given["file_path"] if "file_path" in given else given["path"])


def _swap(given: Arguments) -> Sequence[IntendedWrite]:
    everywhere = bool(given.get("replace_all"))
    return (Swap(_path(given), given["old_string"], given["new_string"], everywhere),)


def _whole(given: Arguments) -> Sequence[IntendedWrite]:
    return (Whole(_path(given), given["content"] if "content" in given else given["text"]),)


def _removed(given: Arguments) -> Sequence[IntendedWrite]:
    return (Removed(_path(given)),)


def _read(given: Arguments) -> Sequence[str]:
    return (_path(given),)


FILE_TOOLS: Final[Mapping[str, Role]] = {
    "read_file": Reads(_read),
    "write_file": Writes(_whole),
    "edit_file": Writes(_swap),
    "delete_file": Writes(_removed),
}
"""Tools of the usual names: `file_path` or `path`, `content` or `text`, `old_string`, `new_string`, `replace_all`."""
