"""From the options of a run to its roles."""

from dataclasses import dataclass

from commonhold.coordinator.checks import CheckValidator
from commonhold.coordinator.command_roles import CommandRole
from commonhold.coordinator.roles import RecoveryByRules, Roles
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


def roles_of(commands: RoleCommands, root: str, seconds: float) -> Roles:
    """Return the roles of a run in the working tree at `root`; each call may take so many seconds."""
    fill = WorkingCopy(Git(root)) if find_repository(root).git_dir is not None else None
    return Roles(
        CommandRole(commands.editor, seconds),
        CommandRole(commands.validator, seconds) if commands.validator else CheckValidator(seconds, fill),
        CommandRole(commands.recovery, seconds) if commands.recovery else RecoveryByRules(),
        CommandRole(commands.planner, seconds) if commands.planner else None,
    )
