"""The repository of a path, and the place of its state."""

import os
from dataclasses import dataclass, field

from commonhold.workspace.repository_paths import repository_paths
from commonhold.workspace.state_folder import StateFolder, identity_at


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree and its state folder. `git_dir` is None for a plain folder.

    All working trees of one git repository have one state folder, in its common directory. `state` keeps this session
    to that very folder.
    """

    root: str
    state_folder: str
    git_dir: str | None = None
    state: StateFolder = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Remember which folder the state belongs in: nothing is made inside another one."""
        above = identity_at(os.path.dirname(self.state_folder))
        object.__setattr__(self, "state", StateFolder(self.state_folder, above))


def find_repository(start: str) -> Repository:
    """The repository around `start`. Raises InputError as `repository_paths` does."""
    return Repository(*repository_paths(start))
