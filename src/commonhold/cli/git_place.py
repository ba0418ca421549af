"""The git working tree that a command acts in."""

from dataclasses import dataclass

from commonhold.cli.common_options import Given, start_of
from commonhold.kernel.errors import Code, InputError
from commonhold.workspace.repository import find_repository


@dataclass(frozen=True, slots=True)
class GitPlace:
    """The root of a working tree, its own git folder, and our state folder."""

    root: str
    git_dir: str
    state_folder: str


def git_place(given: Given) -> GitPlace:
    """Return the working tree around the given folder. Raises InputError `REPOSITORY_PLAIN` if there is none."""
    repository = find_repository(start_of(given))
    if repository.git_dir is None:
        raise InputError(
            Code.REPOSITORY_PLAIN,
            f"{repository.root} is in no git repository",
            hint="go to a working tree of one, or name one with -C",
            fields={"path": repository.root},
        )
    return GitPlace(repository.root, repository.git_dir, repository.state_folder)
