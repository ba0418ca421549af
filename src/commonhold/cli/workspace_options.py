"""The options of commands that start managed sessions: the workspace of each, and its sandbox."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypedDict, TypeVar

import click

from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.managed_session import Sandbox
from commonhold.kernel.sizes import parse_size
from commonhold.sessions.options import SessionOptions

Function = TypeVar("Function", bound=Callable[..., Any])


class WorkspaceOptions(TypedDict):
    """The options as click gives them."""

    setup: str
    teardown: str
    sandbox: str
    network: bool
    exposed: tuple[str, ...]
    memory: str
    cpus: float | None


UNUSED_WORKSPACE: Final[WorkspaceOptions] = {
    "setup": "",
    "teardown": "",
    "sandbox": "none",
    "network": False,
    "exposed": (),
    "memory": "",
    "cpus": None,
}
"""The options where none is given."""
_OPTIONS: Final = (
    click.option(
        "--setup", metavar="COMMAND", default="", help="Prepares the workspace; if it fails, the session does."
    ),
    click.option("--teardown", metavar="COMMAND", default="", help="Is run before the workspace is removed."),
    click.option(
        "--sandbox",
        type=click.Choice([each.value for each in Sandbox]),
        default="none",
        show_default=True,
        help="bubblewrap, docker: it writes to the workspace only, and the home folder is hidden.",
    ),
    click.option("--network", is_flag=True, help="Let it use the network in the sandbox."),
    click.option(
        "--expose",
        "exposed",
        metavar="PATH",
        multiple=True,
        help="Show it this path below the home folder; with `:rw` at the end it may write there. May be repeated.",
    ),
    click.option(
        "--memory", metavar="SIZE", default="", help="The most memory of all its processes, such as 512m or 2g."
    ),
    click.option("--cpus", metavar="N", type=click.FloatRange(min=0.1), help="The most processors, such as 1.5."),
)


def workspace_options(function: Function) -> Function:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def workspace_of(options: WorkspaceOptions) -> SessionOptions:
    """Return the options for a call that starts a session. Raises UsageError for a size that cannot be read."""
    return {
        "setup": options["setup"],
        "teardown": options["teardown"],
        "sandbox": Sandbox(options["sandbox"]),
        "network": options["network"],
        "exposed": [str(Path(each).expanduser().absolute()) for each in options["exposed"]],
        "memory_bytes": _bytes(options["memory"]),
        "cpus": options["cpus"] or 0.0,
    }


def _bytes(text: str) -> int:
    if not text:
        return 0
    size = parse_size(text)
    if size is None:
        raise UsageError(Code.USAGE, f"{text!r} is no size", hint="write a size such as 512m or 2g")
    return size
