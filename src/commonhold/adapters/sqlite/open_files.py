"""The files behind an open database: SQLite goes on with those that it opened, whatever is at their paths by then."""

import os

from commonhold.adapters.sqlite.mark import LOGS
from commonhold.adapters.state_folder import identity_of


class OpenFiles:
    """The database, its log and its shared index, as they were when a connection had read from all of them."""

    def __init__(self, path: str) -> None:
        """Remember the files of the database at `path`. Raises OSError if one of them is not there."""
        self._known = [(path + ending, identity_of(os.stat(path + ending))) for ending in ("", *LOGS)]

    @property
    def database(self) -> int:
        """The inode of the database."""
        return self._known[0][1][1]

    def are_in_place(self) -> bool:
        """Whether each is still the file at its path: whoever opens the database now works on these same files."""
        try:
            for path, known in self._known:
                if identity_of(os.stat(path)) != known:
                    return False
        except OSError:
            return False
        return True
