"""A process that competes: `python -m tests.unit.adapters.redis.rival URL NAMESPACE HOLDER SECONDS` prints fences."""

import sys
from contextlib import closing

from tests.unit.adapters.redis.agents import compete

from commonhold.adapters.redis import open_redis


def main(url: str, namespace: str, holder: str, seconds: str) -> None:
    with closing(open_redis(url, namespace)) as registry:
        print(*compete(registry, holder, float(seconds)))  # noqa: T201 - that is how a child answers


if __name__ == "__main__":
    main(*sys.argv[1:])
