"""The git working tree that a command acts in."""

from dataclasses import dataclass

from commonhold.adapters.repository import find_repository
from commonhold.cli.given import Given, start_of
from commonhold.domain.errors import Code, InputError


@dataclass(frozen=True, slots=True)
class GitPlace:
    """The root of a working tree, the git folder that is its own, and where our state lies."""

    root: str
    git_dir: str
    state_folder: str


def git_place(given: Given) -> GitPlace:
    """The working tree around the folder that was given. Raises InputError `REPOSITORY_PLAIN` where there is none."""
    repository = find_repository(start_of(given))
    if repository.git_dir is None:
        raise InputError(
            Code.REPOSITORY_PLAIN,
            f"{repository.root} is in no git repository",
            hint="go to a working tree of one, or name one with -C",
            fields={"path": repository.root},
        )
    return GitPlace(repository.root, repository.git_dir, repository.state_folder)
