"""Run every bench: `make bench`. Each prints a table and writes `build/bench/NAME.json`."""

from bench import commits, discovery, leases


def main() -> None:
    """Run all, one after the other, so that none disturbs another."""
    for bench in (leases, commits, discovery):
        bench.main()


if __name__ == "__main__":
    main()
