"""`python -m commonhold.index.fill ROOT MAX_FILE_BYTES`: read all files that were not read yet, and end.

A daemon starts it, so that the first query about other files finds them read. It has the lowest priority, works on one
file at a time, and ends after a fixed amount of work; the summaries made by then are stored.
"""

import os
import resource
import sys
from contextlib import closing
from typing import Final

from commonhold.code.regions.budget import TRIALS
from commonhold.index.index import index_at
from commonhold.workspace import parse_trials
from commonhold.workspace.repository import find_repository

LOWEST_PRIORITY: Final = 19
MOST_SECONDS: Final = 600
"""The processor time that it may take, in seconds: enough for tens of thousands of files."""


def main(root: str, max_file_bytes: str) -> None:
    """Read all files of the repository at `root`."""
    os.nice(LOWEST_PRIORITY)
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    TRIALS.is_quick = parse_trials.is_quick
    with closing(index_at(find_repository(root), int(max_file_bytes), processes=1)) as index:
        index.library()


if __name__ == "__main__":
    main(*sys.argv[1:])
