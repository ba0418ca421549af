"""The options of `commonhold run start`, as its parts use them."""

from commonhold.cli.workspace_options import WorkspaceOptions


class RunOptions(WorkspaceOptions):
    """The options of a run as click gives them."""

    resume: str | None
    goal: str
    editor: str | None
    planner: str | None
    recovery: str | None
    validator: str | None
    checks: tuple[str, ...]
    editors: int
    isolated: bool
    name: str | None
    deadline: str
    ttl_seconds: float
