"""The `commonhold` program: find the command, run it, and map its outcome to an exit status."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import Final

import click
from click.shell_completion import shell_complete

import commonhold
from commonhold.cli.colours import choose
from commonhold.cli.command import Group
from commonhold.cli.commands import BY_RAW_NAMES, COMMANDS, GROUPS, MEANT, MODULES
from commonhold.cli.common_options import PLAIN, Given, common, log_on_screen
from commonhold.cli.exit_status import BROKEN_PIPE, DONE, INTERRUPTED
from commonhold.cli.faults import report
from commonhold.cli.output import OutputLostError, abandon_output, complain, flush, lost
from commonhold.kernel.errors import Code, InputError
from commonhold.machine.correlation import correlated
from commonhold.machine.logs import Log

NAME: Final = "commonhold"
COMPLETE_VARIABLE: Final = "_COMMONHOLD_COMPLETE"
LOG: Final = "COMMONHOLD_LOG"
LEVELS: Final = ("debug", "info", "warning", "error")
_log: Final = Log(__name__)
_STANDARD_ERROR: Final = 2
_WIDEST: Final = max(map(len, COMMANDS))
_COMMITTING: Final = frozenset(
    {
        *("adopt", "commit", "doctor", "exec", "hook", "mcp", "merge"),
        *("merge-file", "queue", "restore", "run", "serve", "session", "undo"),
    }
)
"""The commands that may have begun to write files when they are interrupted."""
_STANDING: Final = {
    **dict.fromkeys(("acquire", "break", "hand-over", "release", "renew"), "leases"),
    **dict.fromkeys(("plan", "task"), "task list"),
}
"""The commands that change leases or tasks, each with the one that shows them."""

_EXAMPLES: Final = (
    "commonhold install",
    "commonhold status --watch",
    'commonhold acquire src/prices.py#total --task "round to cents"',
)


class _Commands(Group):
    """A group whose commands are loaded when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if cmd_name not in COMMANDS:
            return None
        module = MODULES.get(cmd_name, cmd_name.replace("-", "_"))
        command: click.Command = import_module(f"commonhold.cli.{module}").command
        return command

    def meant(self, name: str) -> str | None:
        return MEANT.get(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:<{_WIDEST}}", line) for name, line in commands.items()])


@click.command(cls=_Commands, name=NAME, examples=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@common
@click.version_option(commonhold.__version__, prog_name=NAME)
def cli() -> None:
    """Many AI coding agents, one codebase, nothing lost.

    `commonhold install` sets up the agents in this repository; after that they work as before, and no edit overwrites
    another's. All other commands are for looking at it, and for doing the same by hand.

    A KEY is a path (src/prices.py), a function, class or method in it (src/prices.py#total), a folder (src/billing/),
    or any name (account:12345). LEASE is the id of a lease, or its first characters. Exit code 1 means that the answer
    is no (somebody holds it, it changed): nothing failed and nothing was changed.
    """


def start(arguments: Sequence[str]) -> int:
    """Run as a program, with the streams of this process; return its exit status."""
    _fill_descriptors()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if instruction := os.environ.get(COMPLETE_VARIABLE):
        return shell_complete(cli, {}, NAME, COMPLETE_VARIABLE, instruction)
    return main(arguments)


def _fill_descriptors() -> None:
    """Keep files from taking the descriptor of a closed standard stream: output would go into them."""
    with suppress(OSError):
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _STANDARD_ERROR:
            os.set_inheritable(descriptor, True)  # noqa: FBT003 - positional only
        os.close(descriptor)


def main(arguments: Sequence[str]) -> int:
    """Run one command; return its exit status."""
    choose(plain=PLAIN in _options(arguments))
    with correlated():
        return _ended(lambda: _invoke(arguments), arguments, as_json="--json" in _options(arguments))


def end(fault: Exception) -> int:
    """Return the exit status of a command whose answer could not be printed."""

    def fail() -> int:
        is_lost = isinstance(fault, OSError) and not isinstance(fault, BrokenPipeError)
        raise lost(fault) if is_lost else fault  # type: ignore[arg-type]

    return _ended(fail, as_json=False)


def _after_ctrl_c(arguments: Sequence[str]) -> Iterator[str]:
    """Yield what a caller must know of a command that was interrupted."""
    if any(each.partition("=")[0] == "--wait" for each in _options(arguments)):
        yield "you wait no longer"
    if (command := _command_in(arguments)) in _STANDING:
        yield f"`commonhold {_STANDING[command]}` shows how things stand"
    elif command in _COMMITTING:
        yield "if a commit had begun, the next command finishes or undoes it"


def _ended(act: Callable[[], int], arguments: Sequence[str] = (), *, as_json: bool) -> int:
    try:
        return _answered(act, as_json=as_json)
    except OutputLostError as fault:
        status = report(fault, as_json=False)
        abandon_output()
        return status
    except BrokenPipeError:
        abandon_output()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        complain("; ".join(("interrupted", *_after_ctrl_c(arguments))))
        return INTERRUPTED


def _answered(act: Callable[[], int], *, as_json: bool) -> int:
    try:
        status = act()
    except (BrokenPipeError, OutputLostError):
        raise
    except Exception as fault:  # whatever happens, the caller gets a message, never a traceback
        if isinstance(fault.__cause__, KeyboardInterrupt):
            # Up to Python 3.11 an interrupt inside the making of a class comes out wrapped.
            raise KeyboardInterrupt from fault
        status = report(fault, as_json=as_json)
    flush()
    return status


def _invoke(arguments: Sequence[str]) -> int:
    _check_encoding(arguments)
    given = Given()
    if os.environ.get(LOG) in LEVELS:  # the settings complain of any other word
        log_on_screen(given, os.environ[LOG], f"{NAME} {_command_in(arguments) or ''}".rstrip())
    try:
        with cli.make_context(NAME, list(arguments) or ["--help"], obj=given) as context:
            status = cli.invoke(context) or DONE
            _log.debug("command ends", status=status)
            return status
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None


def _options(arguments: Sequence[str]) -> Sequence[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _command_in(arguments: Sequence[str]) -> str | None:
    return next((word for word in arguments if word in COMMANDS), None)


def _check_encoding(arguments: Sequence[str]) -> None:
    if _command_in(arguments) in BY_RAW_NAMES:
        return
    for number, argument in enumerate(arguments, 1):
        try:
            argument.encode()
        except UnicodeEncodeError as fault:
            raise InputError(
                Code.TEXT_INVALID,
                f"argument {number}, {argument!a}, is not valid UTF-8",
                hint="write texts in UTF-8; for a file with such a name, rename it, or lease its folder",
                fields={"argument": number},
            ) from fault
