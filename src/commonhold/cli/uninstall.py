"""`commonhold uninstall`: take out what `install` set."""

import click

from commonhold.adapters.git.installing import carry_out, to_uninstall
from commonhold.adapters.git.running import Git
from commonhold.cli.command import Command, Group
from commonhold.cli.git_place import git_place
from commonhold.cli.given import Given, common
from commonhold.cli.setting_up import tell


@click.group("uninstall", cls=Group, examples=("commonhold uninstall git",))
def command() -> None:
    """Take out what `install` set, and nothing else."""


@command.command("git", cls=Command, examples=("commonhold uninstall git", "commonhold uninstall git --shared"))
@click.option("--shared", is_flag=True, help="Take the line out of .gitattributes, too, which others may rely on.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be taken out.")
@common
@click.pass_obj
def git(given: Given, *, shared: bool, dry_run: bool) -> None:
    """Let git merge by itself again."""
    place = Git(git_place(given).root)
    plan = to_uninstall(place, shared=shared)
    if not dry_run:
        carry_out(place, plan)
    tell(given, plan, dry_run=dry_run)
