"""A process that builds the index of the tree it is given, and says how far it is."""

import sys

from commonhold.index.index import SqliteIndex
from commonhold.workspace.git.process import Git


def tell(*words: object) -> None:
    """Say it at once."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Build, print each step of the progress, then the number of files."""
    state, root = sys.argv[1:]
    index = SqliteIndex(state, root, Git(root), processes=2)
    library = index.library(tell)
    tell("all", len(library.paths))
    index.close()


if __name__ == "__main__":
    main()
