"""From the options of a run to its roles."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from commonhold.agents.headless import HEADLESS, PROMPT_FILE, HeadlessAgent
from commonhold.agents.hook_commands import ways_in
from commonhold.agents.prompt_editor import PromptEditor
from commonhold.agents.setups import SETUPS
from commonhold.bootstrap import open_archive
from commonhold.cli.agent_changes import Project
from commonhold.client.session import Commonhold
from commonhold.commits.project_notes import LINKS_KEY
from commonhold.config import load_settings
from commonhold.coordinator.checks import CheckValidator
from commonhold.coordinator.command_roles import CommandRole
from commonhold.coordinator.roles import Editor, RecoveryByRules, Roles
from commonhold.kernel.errors import Code, UsageError
from commonhold.tasks.archive import Quote
from commonhold.tasks.linking import read_links
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.working_copy import WorkingCopy
from commonhold.workspace.repository import find_repository


@dataclass(frozen=True, slots=True)
class RoleCommands:
    """The commands of the roles; None for the default of a role."""

    editor: str
    planner: str | None = None
    recovery: str | None = None
    validator: str | None = None


def prompted(editor: str) -> HeadlessAgent | str | None:
    """Return the program that gets a prompt: an agent by its name, or a line with `{prompt_file}`; None for others."""
    return HEADLESS.get(editor) or (editor if PROMPT_FILE in editor else None)


def roles_of(
    commands: RoleCommands, hold: Commonhold, session_of: Callable[[str], Commonhold], seconds: float
) -> Roles:
    """Return the roles of a run in the working tree of `hold`; each call may take so many seconds.

    Raises UsageError for an agent that cannot be run there, or whose hooks are not installed.
    """
    root = hold.root
    fill = WorkingCopy(Git(root)) if find_repository(root).git_dir is not None else None
    program = prompted(commands.editor)
    editor: Editor = CommandRole(commands.editor, seconds)
    if program is not None:
        if isinstance(program, HeadlessAgent):
            _check_agent(program, root)
        editor = PromptEditor(hold, session_of, program, Notes(hold), seconds)
    return Roles(
        editor,
        CommandRole(commands.validator, seconds) if commands.validator else CheckValidator(seconds, fill),
        CommandRole(commands.recovery, seconds) if commands.recovery else RecoveryByRules(),
        CommandRole(commands.planner, seconds) if commands.planner else None,
        editor_writes=program is not None,
    )


def _check_agent(agent: HeadlessAgent, root: str) -> None:
    """Raise UsageError if an agent would write files without asking Commonhold."""
    setup = SETUPS[agent.name]
    if shutil.which(agent.program) is None:
        raise UsageError(
            Code.USAGE,
            f"`{agent.program}`, the program of {setup.title}, is not on the path",
            hint=f"install it, or name another editor: --editor COMMAND; known agents: {', '.join(HEADLESS)}",
        )
    project = Project(find_repository(root)).of_hooks(setup)
    texts = (project.load(path) for piece in setup.hooks(project.ways()) for path in piece.paths)
    why = "" if any(ways_in(text) for text in texts if text) else "its hooks are not installed here"
    if why := why or project.hooks_off(agent.name):
        raise UsageError(
            Code.USAGE,
            f"{setup.title} would write files without asking Commonhold: {why}",
            hint=f"commonhold install {agent.name}; then: commonhold doctor",
        )


@dataclass(frozen=True, slots=True)
class Notes:
    """The project's notes, opened for each question: the editors of a run ask from different threads."""

    hold: Commonhold

    def __call__(self, keys: Sequence[str], words: str) -> Sequence[Quote]:
        """Return the sections that bear on keys, and on words."""
        root = self.hold.root
        links = self.hold.get(LINKS_KEY).text
        archive = open_archive(find_repository(root), load_settings(root), lambda: read_links(links))
        try:
            return archive.relevant(keys, words)
        finally:
            archive.close()
