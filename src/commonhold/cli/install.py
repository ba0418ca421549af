"""`commonhold install`: let other programs work with Commonhold."""

import click

from commonhold.adapters.git.installing import carry_out, to_install
from commonhold.adapters.git.running import Git
from commonhold.cli.command import Command, Group
from commonhold.cli.git_place import git_place
from commonhold.cli.given import Given, common
from commonhold.cli.setting_up import tell


@click.group("install", cls=Group, examples=("commonhold install git",))
def command() -> None:
    """Let other programs work with Commonhold; `uninstall` takes exactly that out again."""


@command.command("git", cls=Command, examples=("commonhold install git", "commonhold install git --dry-run"))
@click.option(
    "--shared",
    is_flag=True,
    help="Name the driver in .gitattributes, for everybody who has installed it, instead of in this clone's settings.",
)
@click.option("--dry-run", is_flag=True, help="Only tell what would be set.")
@common
@click.pass_obj
def git(given: Given, *, shared: bool, dry_run: bool) -> None:
    """Let git merge files with Commonhold, and `git mergetool --tool=commonhold` call it.

    All that merges lines in git then does: merge, rebase, cherry-pick, revert, stash. What is proven is taken, the rest
    is left as a conflict. Without --shared it holds for this clone alone, for every file for which no attribute
    names another way to merge.
    """
    place = Git(git_place(given).root)
    plan = to_install(place, shared=shared)
    if not dry_run:
        carry_out(place, plan)
    tell(given, plan, dry_run=dry_run)
