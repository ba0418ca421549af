"""The composition root: a repository on disk becomes a service."""

from commonhold.adapters.files import WorkingTree
from commonhold.adapters.repository import Repository, find_repository
from commonhold.adapters.sqlite import SqliteStore
from commonhold.adapters.system import RandomIds, SystemClock
from commonhold.app.ports import Step, no_step
from commonhold.app.service import Commonhold
from commonhold.config import load_settings


def open_repository(path: str = ".", *, agent: str | None = None, at_step: Step = no_step) -> Commonhold:
    """The service for the repository around `path`, for the agent session named `agent`.

    Without an agent only questions can be asked. Nothing is written before the first call that has to.
    """
    return compose(find_repository(path), agent=agent, at_step=at_step)


def compose(repository: Repository, *, agent: str | None = None, at_step: Step = no_step) -> Commonhold:
    """Put the parts together for a repository that was found."""
    settings = load_settings(repository.root)
    files = WorkingTree(
        repository.root, git_dir=repository.git_dir, max_file_bytes=settings.max_file_bytes, at_step=at_step
    )
    return Commonhold(
        store=SqliteStore(repository.state_folder),
        files=files,
        clock=SystemClock(),
        ids=RandomIds(),
        agent=agent,
        ttl_seconds=settings.ttl_seconds,
        retention_seconds=settings.retention_days * 86400.0,
        at_step=at_step,
    )
