"""The options that every command takes, before or after its name; the nearer one wins."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import click

import commonhold
from commonhold.cli.command import folders
from commonhold.kernel.errors import Code, UsageError
from commonhold.machine.logs import Log

PLAIN: Final = "--plain"
VERBOSE: Final = "--verbose"
_log: Final = Log(__name__)
C = TypeVar("C", bound=Callable[..., Any] | click.Command)


@dataclass(slots=True)
class Given:
    """The values of the common options."""

    folder: str | None = None
    agent: str | None = None
    as_json: bool = False
    store: str | None = None
    log_level: str | None = None

    def words(self) -> list[str]:
        """The options that a follow-up command has to repeat."""
        # An address with a user in it may have a password in it: it is not repeated on a screen.
        store = None if self.store and ("@" in self.store or "password" in self.store) else self.store
        options = {"-C": self.folder, "--agent": self.agent, "--store": store}
        return [word for name, value in options.items() if value is not None for word in (name, value)]


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> object:
    if value is not None and parameter.name:
        setattr(context.obj, parameter.name, value)
    return value


def log_on_screen(given: Given, level: str, command: str) -> None:
    """Write the log records of `command` from `level` on to standard error."""
    # Loaded here: most commands log nothing.
    from commonhold.machine.log_output import log_to_standard_error  # noqa: PLC0415

    log_to_standard_error(level)
    given.log_level = level
    _log.debug("command begins", command=command, version=commonhold.__version__)


_OPTIONS: Final = (
    click.option(
        *("-C", "--repo", "folder"),
        metavar="DIR",
        expose_value=False,
        callback=_remember,
        shell_complete=folders,
        help="Act as if started in DIR; plain paths are relative to it.",
    ),
    click.option(
        *("--agent", "agent"),
        metavar="NAME",
        expose_value=False,
        callback=_remember,
        help="The name of this agent session; default: $COMMONHOLD_AGENT, or, at a terminal, person:USER@HOST.",
    ),
    click.option(
        *("--store", "store"),
        metavar="URL",
        expose_value=False,
        callback=_remember,
        help="Where leases are kept; default: $COMMONHOLD_STORE, then the settings, then beside the repository.",
    ),
    click.option(
        *("--json", "as_json"),
        is_flag=True,
        default=None,
        expose_value=False,
        callback=_remember,
        help="Answer in JSON, errors too.",
    ),
    click.option(
        VERBOSE,
        is_flag=True,
        expose_value=False,
        callback=lambda context, _, value: log_on_screen(context.obj, "debug", context.command_path) if value else None,
        help="Log each step to standard error; default: from the level $COMMONHOLD_LOG on.",
    ),
    click.option(PLAIN, is_flag=True, expose_value=False, help="No colours, and nothing that moves."),
)


def common(command: C) -> C:
    """Give a command the common options. It gets them with `click.pass_obj`, as a `Given`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def start_of(given: Given) -> str:
    """Return the folder to act in. Raises UsageError if it is a file."""
    start = os.path.realpath(given.folder or ".")
    if Path(start).is_file():
        raise UsageError(
            Code.USAGE, f"-C takes a folder, and {given.folder!r} is a file", hint="name the folder that it lies in"
        )
    return start


class _Note(click.Option):
    """An option with a reason or a remark. Its other spellings are not shown: each command calls it the same."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:  # noqa: ANN401 - click's parser is private
        """Let the parser know all spellings."""
        super().add_to_parser(parser, ctx)
        parser.add_option(obj=self, opts=["--reason", "--why"], dest=self.name, action="store", nargs=self.nargs)


def note_option(help_: str, *, is_required: bool = True) -> Callable[[C], C]:
    """Return the option `--note`, which a command gets as `note`; an empty text without it."""
    default = {} if is_required else {"default": ""}
    return click.option("--note", cls=_Note, metavar="TEXT", required=is_required, help=help_, **default)


ttl_option = click.option("--ttl", "ttl_seconds", metavar="SECONDS", type=float, help="How long, in seconds.")
request_option = click.option(
    "--request-id", metavar="ID", help="Repeating a call with the same ID gives the first answer, and acts only once."
)
