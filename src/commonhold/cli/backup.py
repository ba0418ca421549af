"""`commonhold backup`: a copy of the state."""

import os
from dataclasses import asdict
from pathlib import Path

import click

from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.exit_status import DONE
from commonhold.cli.output import answer, shown
from commonhold.machine.system import SystemClock
from commonhold.stores.sqlite.backup import Backup, back_up
from commonhold.workspace.repository import Repository, find_repository

_PRIVATE = 0o700


@click.command("backup", cls=Command, examples=("commonhold backup", "commonhold backup shop.backup --json"))
@click.argument("path", metavar="[FILE]", required=False, shell_complete=files)
@common
@click.pass_obj
def command(given: Given, path: str | None) -> int:
    """Copy the state to FILE: the log, leases, values, tasks, and all bytes that are kept.

    Others go on meanwhile; the copy is of one moment. Without FILE it is written beside the state, where no checkout
    and no commit finds it, named after the repository and the time. It contains texts of files, so only you can read
    it. Access tokens and settings are not in it, nor are leases on a shared store, which has its own tools for that.
    """
    repository = find_repository(start_of(given))
    place = os.path.abspath(path) if path else _beside(repository)  # noqa: PTH100 - not resolved: it may be a link
    made = back_up(repository.state_folder, place)
    answer(given, made, asdict, _described)
    return DONE


def _beside(repository: Repository) -> str:
    """Return the place of a backup without a name: it outlives the state folder, unless that is in a plain folder."""
    state = Path(repository.state_folder)
    folder = state.with_name(f"{state.name}.backups") if repository.git_dir else state / "backups"
    if state.is_dir():
        folder.mkdir(_PRIVATE, exist_ok=True)
    return str(folder / f"{Path(repository.root).name}-{SystemClock().now().wall:.0f}.backup")


def _described(backup: Backup) -> str:
    return f"backed up to {shown(backup.path)}: {backup.size:,} bytes, up to event {backup.newest}"
