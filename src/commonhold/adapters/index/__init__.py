"""The index on disk: summaries of files by the hash of their content, and which file of which state has which."""

from commonhold.adapters.git.running import Git
from commonhold.adapters.index.index import SqliteIndex
from commonhold.adapters.repository import Repository

__all__ = ["SqliteIndex", "index_at"]


def index_at(
    repository: Repository, max_file_bytes: int, *, keeps: bool = True, processes: int | None = None
) -> SqliteIndex:
    """What each file of a repository offers and uses. Nothing is opened before it is asked.

    `keeps`: it writes down which file has which summary. One process of several should, since each writes it all anew
    after another did. `processes` is how many may work at once; all that there are, unless it is said.
    """
    git = Git(repository.root) if repository.git_dir else None
    return SqliteIndex(
        repository.state, repository.root, git, max_file_bytes=max_file_bytes, keeps=keeps, processes=processes
    )
