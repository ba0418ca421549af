"""Run every bench: `make bench`. Each prints a table and writes `build/bench/NAME.json`."""

from bench import commits, daemon, discovery, leases, postgres_leases, redis_leases, scale


def main() -> None:
    """Run all, one after the other, so that none disturbs another."""
    for bench in (leases, daemon, scale, redis_leases, postgres_leases, commits, discovery):
        bench.main()


if __name__ == "__main__":
    main()
