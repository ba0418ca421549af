"""An agent as a process of its own: `python rival.py URL NAMESPACE HOLDER ROUNDS` prints the fences that it got."""

import sys

from tests.unit.stores.postgres.agents import fences_of

from commonhold.stores.postgres import open_postgres


def main(url: str, namespace: str, holder: str, rounds: str) -> None:
    """Try to get the key, again and again."""
    tables = open_postgres(url, namespace)
    sys.stdout.write(" ".join(map(str, fences_of(tables, holder, int(rounds)))))
    tables.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
