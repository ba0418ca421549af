"""`commonhold hook`: the fallback of an agent's hook if no daemon answers; it starts one, and asks."""

import json
import os
import sys
import time
from typing import Final

import click

from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common
from commonhold.client import daemon, hook_client
from commonhold.kernel.errors import CommonholdError
from commonhold.workspace.daemon_files import http_address
from commonhold.workspace.repository import Repository, find_repository

PAUSE_SECONDS: Final = 0.02
_NOTHING: Final[hook_client.Said] = (0, b"", b"")


@click.command("hook", cls=Command, examples=("commonhold hook claude < payload.json",))
@click.argument("name", metavar="AGENT")
@click.option(
    "--when-down",
    type=click.Choice(["block", "allow"]),
    default="block",
    help="The answer to a tool call on which no service could decide.",
)
@click.option("--seconds", type=float, default=hook_client.SECONDS, help="How long the answer may take.")
@click.option("--process", default="", metavar="PID:START", help="The agent's process, if it is not the parent.")
@click.option("--framed", is_flag=True, help="Print the exit status and the length of the output first.")
@common
@click.pass_obj
def command(given: Given, name: str, when_down: str, seconds: float, process: str, *, framed: bool) -> int:
    """Answer a hook of AGENT: its payload comes on standard input. What install sets calls this by itself."""
    payload = sys.stdin.buffer.read()
    process = process or hook_client.agent_process(os.getppid())
    try:
        said = _ask(given.folder or _folder_in(payload), name, payload, process, time.monotonic() + seconds)
    except CommonholdError as fault:
        said = hook_client.without_answer(name, payload, when_down, fault.message)
    except hook_client.Rejected as fault:
        said = hook_client.without_answer(name, payload, when_down, str(fault))
    except TimeoutError:
        said = hook_client.without_answer(
            name, payload, when_down, f"its daemon did not answer within {seconds:g} seconds"
        )
    except OSError as fault:
        why = f"its daemon cannot be started ({fault.strerror or fault}: {fault.filename})"
        said = hook_client.without_answer(name, payload, when_down, why)
    status, output, complaint = said
    if framed:
        hook_client.write_all(1, b"%d %d\n" % (status, len(output)) + output + complaint)
        return 0
    hook_client.write_all(1, output)
    hook_client.write_all(2, complaint)
    return status


def _folder_in(payload: bytes) -> str:
    """The folder that the agent works in."""
    try:
        told = json.loads(payload)
    except (ValueError, RecursionError):
        told = None
    folder = told.get("cwd") if isinstance(told, dict) else None
    return folder if isinstance(folder, str) and folder else "."


def _ask(folder: str, name: str, payload: bytes, process: str, until: float) -> hook_client.Said:
    """Return the answer of the daemon, which is started if there is none. Raises Rejected, TimeoutError."""
    repository = find_repository(folder)
    if not _is_coordinated(repository):
        return _NOTHING
    address, path = http_address(repository.state_folder), f"/hooks/{name}"
    started_at, begun = -daemon.PATIENCE_SECONDS, None
    while (now := time.monotonic()) < until:
        try:
            return hook_client.ask(path, address, payload, process, until - now)
        except hook_client.Unanswered:
            if begun and begun.trouble:
                raise hook_client.Rejected(begun.trouble) from None
            if now - started_at >= daemon.PATIENCE_SECONDS and daemon.pid_of(repository) is None:
                begun, started_at = daemon.start(repository), now
        time.sleep(PAUSE_SECONDS)
    raise TimeoutError


def _is_coordinated(repository: Repository) -> bool:
    """Whether this is a repository at all: an agent may work in any folder."""
    return repository.git_dir is not None or os.path.lexists(repository.state_folder)
