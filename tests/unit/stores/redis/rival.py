"""A process that competes: `python -m tests.unit.stores.redis.rival URL NAMESPACE HOLDER SECONDS` prints fences."""

import sys
from contextlib import closing

from tests.unit.stores.redis.agents import compete

from commonhold.stores.redis import open_redis


def main(url: str, namespace: str, holder: str, seconds: str) -> None:
    with closing(open_redis(url, namespace)) as registry:
        print(*compete(registry, holder, float(seconds)))  # noqa: T201 - that is how a child answers


if __name__ == "__main__":
    main(*sys.argv[1:])
