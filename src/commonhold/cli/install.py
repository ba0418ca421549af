"""`commonhold install`: let agents and git work with Commonhold."""

import click

from commonhold.agents.hook_commands import Link
from commonhold.cli.agent_changes import AgentPlan, Project, carry_out, to_install
from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.consent import GIT, diff_option, dry_run_option, may_go_on, named, what_argument, yes_option
from commonhold.cli.git_place import git_place
from commonhold.cli.output import shown
from commonhold.cli.setting_up import Outcome, tell
from commonhold.client import daemon
from commonhold.kernel.errors import Code, UsageError
from commonhold.workspace.git import merge_driver_settings as git_settings
from commonhold.workspace.git.process import Git
from commonhold.workspace.loopback import choose, loopback
from commonhold.workspace.repository import find_repository

_AT_HOME = "{0.title} is left out: only {1} shows that it was ever used. To include it: commonhold install {0.name}"
_YET_UNKNOWN = Link("http://127.0.0.1:0", "made when this is written")


@click.command(
    "install",
    cls=Command,
    examples=("commonhold install", "commonhold install claude codex --yes", "commonhold install git --dry-run"),
)
@what_argument
@click.option("--http", is_flag=True, help="Let Claude Code's hooks ask the daemon themselves, over the loopback.")
@click.option("--mcp", is_flag=True, help="Offer the agents the MCP tools, too: about 1,200 tokens of context.")
@click.option(
    "--shared",
    is_flag=True,
    help="Name git's driver in .gitattributes, for all who have installed it, instead of in this clone's settings.",
)
@yes_option
@diff_option
@dry_run_option
@common
@click.pass_obj
def command(
    given: Given, what: tuple[str, ...], *, http: bool, mcp: bool, shared: bool, yes: bool, diff: bool, dry_run: bool
) -> None:
    """Set up the coding agents in this repository, and git; `uninstall all` removes exactly that again.

    NAME is claude, codex, gemini, opencode, copilot, cursor, vscode: their hooks then ask Commonhold before each action
    here. agents-md: a section in AGENTS.md for agents without hooks. git: merge, rebase, cherry-pick take proven merges
    and leave the rest as conflicts. all: all of these. Without NAME: the agents that are used here.
    The command shows a summary first, and asks once.
    """
    project = Project(find_repository(start_of(given)))
    setups = named(what) if what else project.found()
    if http and all(each.name != "claude" for each in setups):
        raise UsageError(Code.USAGE, "--http is for claude", hint="name it: commonhold install claude --http")
    is_git_meant = GIT in what or "all" in what
    place = Git(git_place(given).root) if is_git_meant else None
    settings = git_settings.to_install(place, shared=shared) if place else git_settings.Plan(())
    before = _link(project) if http else None

    def plan(link: Link | None) -> AgentPlan:
        return to_install(project, setups, project.ways(link), servers=mcp)

    drafted = plan(before or (_YET_UNKNOWN if http else None))
    none_found = () if what or setups else ("no coding agent was found: name one, as in `commonhold install claude`",)
    only_at_home = () if what else tuple(_AT_HOME.format(each, trace) for each, trace in project.only_at_home())
    notices = (*drafted.notices, *settings.notices, *none_found, *only_at_home)
    root = project.repository.root
    heading = f"Setting up {', '.join(each.title for each in setups) or 'git'} in {shown(root)}:"
    outcome = Outcome(settings.changes, drafted.changes, setups, notices, dry_run, root, heading, diff)
    if may_go_on(given, outcome, is_asked=not yes and bool(drafted.changes)):
        carry_out(project, drafted if not http or before else plan(_chosen(project)))
        if place:
            git_settings.carry_out(place, settings)
    tell(given, outcome)


def _link(project: Project) -> Link | None:
    found = loopback(project.repository.state_folder)
    return Link(found.url, found.token) if found else None


def _chosen(project: Project) -> Link:
    """Choose a port and a token; a daemon that runs already knows neither, so the next call starts another."""
    made = choose(project.repository.state_folder, None)
    if (stopped := daemon.stop(project.repository)) is not None:
        daemon.wait_until_gone(project.repository, stopped)
    return Link(made.url, made.token)
