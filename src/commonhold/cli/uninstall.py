"""`commonhold uninstall`: remove the changes that `install` made."""

from collections.abc import Iterator

import click

from commonhold.agents.setups import SETUPS
from commonhold.cli.agent_changes import Project, carry_out, to_uninstall
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.consent import GIT, diff_option, dry_run_option, may_go_on, named, what_argument, yes_option
from commonhold.cli.git_place import git_place
from commonhold.cli.output import shown
from commonhold.cli.setting_up import Outcome, tell
from commonhold.workspace.git import merge_driver_settings as git_settings
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import find_repository


@click.command(
    "uninstall",
    cls=Command,
    examples=("commonhold uninstall", "commonhold uninstall claude --yes", "commonhold uninstall git --shared"),
)
@what_argument
@click.option("--shared", is_flag=True, help="Take git's line out of .gitattributes, too, which others may rely on.")
@yes_option
@diff_option
@dry_run_option
@common
@click.pass_obj
def command(given: Given, what: tuple[str, ...], *, shared: bool, yes: bool, diff: bool, dry_run: bool) -> None:
    """Undo the changes of `install`, and nothing else. NAME is as for `install`; without NAME all agents, not git."""
    project = Project(find_repository(start_of(given)))
    plan = to_uninstall(project, named(what) if what else tuple(SETUPS.values()))
    place = Git(git_place(given).root) if GIT in what or "all" in what else None
    settings = git_settings.to_uninstall(place, shared=shared) if place else git_settings.Plan(())
    root = project.repository.root
    heading = f"Removing from {shown(root)}, and nothing else:"
    notices = (*plan.notices, *settings.notices, *_left(project, what))
    outcome = Outcome(settings.changes, plan.changes, (), notices, dry_run, root, heading, diff)
    if may_go_on(given, outcome, is_asked=not yes and bool(plan.changes)):
        carry_out(project, plan)
        if place:
            git_settings.carry_out(place, settings)
    if not dry_run:
        # Loaded here: the module that makes private trees also merges.
        from commonhold.agents.git.session_indexes import remove_private_trees  # noqa: PLC0415

        remove_private_trees(project.repository.state_folder)
    tell(given, outcome)


def _left(project: Project, what: tuple[str, ...]) -> Iterator[str]:
    """Yield a notice if git's settings, which were not named, remain."""
    repository = project.repository
    if not what and repository.git_dir and git_settings.to_uninstall(Git(repository.root), shared=False).changes:
        yield "git's merge driver stays; to remove it: commonhold uninstall git"
