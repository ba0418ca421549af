"""Commands that only read: the shortest way from the command line to the output.

It takes the plain forms of `leases`, `status`, `regions` and `show`, asks the daemon, and prints with the same
functions as the full program. If there is no daemon, it reads leases from the state itself, and regions from the file.
Any unusual case (another option, an unknown name, settings that choose another store of leases) is left to the full
program, from the beginning.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commonhold.client.glance import Glance
    from commonhold.client.reader import Reader

    Answering = Reader | Glance

Printing = Callable[[], object]

_SETTINGS = ("commonhold.toml", "pyproject.toml")
_DECIDING = (b"store", b"namespace", b"daemon", b"\\")
"""Words in a settings file that may decide which service to ask."""
_MOST_BYTES = 1_000_000
_HEEDED = ("COMMONHOLD_STORE", "COMMONHOLD_NAMESPACE", "COMMONHOLD_DEBUG", "COMMONHOLD_LOG", "_COMMONHOLD_COMPLETE")
"""Variables that only the full program heeds."""
_DAEMON = {"": True, "on": True, "1": True, "off": False, "0": False}
_CHECKED = {"COMMONHOLD_DURABILITY": ("", "full", "normal"), "COMMONHOLD_TYPES": ("", "on", "off")}
"""Variables that the service checks even for reading, and their valid values."""
_ODD = frozenset(':*?[]%\\"')
"""Characters of keys that are more than a path and the name of a region."""
_OPTIONS = {"-C": "folder", "--repo": "folder", "--agent": "agent"}


class Asked:
    """The command line."""

    def __init__(self, command: str, words: Sequence[str], options: dict[str, str]) -> None:
        """Hold the parts."""
        self.command = command
        self.words = words
        self.folder = os.path.realpath(options.get("folder", "."))
        self.agent = options.get("agent") or os.environ.get("COMMONHOLD_AGENT") or _person()
        self.holder = options.get("holder")


def _person() -> str | None:
    if not (sys.stdin and sys.stdin.isatty()):
        return None
    # Loaded here: only if a person may sit at a terminal.
    from commonhold.cli.person import person  # noqa: PLC0415

    return person()


def printing(arguments: Sequence[str]) -> Printing | None:
    """Return the function that prints the answer to a command; None if only the full program can answer it."""
    asked = _read(arguments)
    if asked is None or any(os.environ.get(name) for name in _HEEDED):
        return None
    if os.environ.get("COMMONHOLD_DAEMON", "") not in _DAEMON or sys.stdout is None or sys.stderr is None:
        return None
    # Loaded here: a command that only the full program answers does not wait for this.
    from commonhold.client.reader import Unread  # noqa: PLC0415
    from commonhold.kernel.errors import CommonholdError  # noqa: PLC0415

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _asked(asked)
    except (Unread, CommonholdError, OSError, AttributeError, UnicodeError):
        return None


def _read(arguments: Sequence[str]) -> Asked | None:
    """The command line, if it is one of these commands in a plain form."""
    words: list[str] = []
    options: dict[str, str] = {}
    rest = iter(arguments)
    for word in rest:
        name = "holder" if word == "--holder" and words == ["leases"] else _OPTIONS.get(word)
        if name is not None:
            options[name] = next(rest, "")
        elif word.startswith("-"):
            return None
        else:
            words.append(word)
    command, *more = words or [""]
    if command not in _COMMANDS or len(more) != _COMMANDS[command][0] or "" in options.values():
        return None
    return Asked(command, more, options)


def _asked(asked: Asked) -> Printing | None:
    from commonhold import __version__  # noqa: PLC0415 - loaded here, as above
    from commonhold.client.reader import Reader  # noqa: PLC0415
    from commonhold.workspace.repository_paths import repository_paths  # noqa: PLC0415
    from commonhold.workspace.socket_paths import address  # noqa: PLC0415

    root, state, _ = repository_paths(asked.folder)
    if not all(map(_says_nothing, (f"{root}/{name}" for name in _SETTINGS))):
        return None
    place = address(state)
    if _DAEMON[os.environ.get("COMMONHOLD_DAEMON", "")] and os.path.exists(place):
        answering: Answering = Reader(place, __version__, root, asked.agent)
    elif _is_unset(root):
        answering = _glance(state, root, asked.agent)
    else:
        return None
    try:
        printed = _COMMANDS[asked.command][1](asked, answering, root)
        if printed is None or asked.agent is None:
            return printed
        news: Any = answering.call("news")
    finally:
        answering.close()

    def with_news() -> None:
        printed()
        _tell_news(news)

    return with_news


def _glance(state: str, root: str, agent: str | None) -> Glance:
    """A look at the state. Raises Unread, and the error for an invalid agent name."""
    from commonhold.client.glance import Glance  # noqa: PLC0415 - loaded here: mostly there is a daemon
    from commonhold.kernel.texts import check_holder  # noqa: PLC0415

    if agent is not None:
        check_holder(agent)
    return Glance(state, root, agent)


def _is_unset(root: str) -> bool:
    """Whether no setting or variable is set that the service would check before it answers."""
    own, shared = (f"{root}/{name}" for name in _SETTINGS)
    is_checked = all(os.environ.get(name, "") in words for name, words in _CHECKED.items())
    if not is_checked or os.path.lexists(own):
        return False
    if not os.path.lexists(shared):
        return True
    from commonhold.code.regions.toml import parse_toml  # noqa: PLC0415 - loaded here: it is a good part of the start

    try:
        with open(shared, encoding="utf-8") as file:
            tools = parse_toml(file.read()).get("tool", {})
    except (OSError, ValueError):  # the full program reports the error in it
        return False
    return isinstance(tools, dict) and "commonhold" not in tools


def _says_nothing(path: str) -> bool:
    """Whether a settings file leaves the defaults for the daemon and for the store of leases."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return True
    if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
        return False
    with open(path, "rb") as file:
        said = file.read()
    return not any(word in said for word in _DECIDING) or (
        path.endswith("pyproject.toml") and b"commonhold" not in said and b"\\" not in said
    )


def _leases(asked: Asked, reader: Answering, _root: str) -> Printing | None:
    found: Any = reader.call("status")
    from commonhold.cli import describe, output  # noqa: PLC0415 - loaded here, as below: an answer comes first

    held, waiting = describe.of_holder(found, asked.holder)
    if asked.holder is not None and not (held or waiting):  # the beginning of a name, perhaps
        return None
    lines = [*describe.leases(held, waiting)]
    return lambda: output.say(lines)


def _status(_asked: Asked, reader: Answering, _root: str) -> Printing | None:
    found: Any = reader.call("status")
    if found.debts or found.works:  # their next calls depend on the command line
        return None
    from commonhold.cli import output, status_words  # noqa: PLC0415

    lines = [*status_words.whole_picture(found)]
    return lambda: output.say(lines)


def _regions(asked: Asked, reader: Answering, root: str) -> Printing | None:
    key = _key(asked, root)
    if key is None:
        return None
    found: Any = reader.call("list_regions", path=key)
    from commonhold.cli import output, region_words  # noqa: PLC0415

    return lambda: output.say(region_words.lines(found))


def _show(asked: Asked, reader: Answering, root: str) -> Printing | None:
    key = _key(asked, root)
    if key is None:
        return None
    found: Any = reader.call("read", keys=[key])
    from commonhold.cli import region_words  # noqa: PLC0415

    return lambda: region_words.tell(found, asked.words)


def _key(asked: Asked, root: str) -> str | None:
    """The key that a plain path stands for, of a file that is there; None for any other."""
    path, mark, qualname = asked.words[0].partition("#")
    if not path or _ODD.intersection(asked.words[0]) or os.path.isabs(path) or "#" in qualname:
        return None
    folder = os.path.relpath(asked.folder, root)
    joined = path if folder == "." else f"{folder}/{path}"
    if not os.path.isfile(os.path.join(root, joined)):
        return None
    return f"file:{joined}{mark}{qualname}"


def _tell_news(news: Any) -> None:  # noqa: ANN401 - whatever the daemon has sent
    if news:
        from commonhold.cli.describe import notices  # noqa: PLC0415
        from commonhold.cli.output import complain  # noqa: PLC0415
        from commonhold.kernel.notice import notice_of  # noqa: PLC0415

        complain(notices(notice_of(each.text, each.diff) for each in news))


_COMMANDS: dict[str, tuple[int, Callable[[Asked, Answering, str], Printing | None]]] = {
    "leases": (0, _leases),
    "status": (0, _status),
    "regions": (1, _regions),
    "show": (1, _show),
}
"""For each command the number of words that follow it, and the function that answers it."""
