"""One agent in a process of its own: `python -m bench.rivals.worker DRIVER FOLDER LOAD NUMBER HOLD_SECONDS`.

Says its facts in a line of JSON when it is ready, reads a line with the start and the end on the monotonic clock,
which all processes of a machine share, works, and says its outcome in a line of JSON.
"""

import sys
import time
from importlib import import_module

from bench.rivals.drivers import Driver
from bench.rivals.loads import Load, Tally, claim_apart, claim_together


def main() -> None:
    """Be one agent."""
    module, folder, load, number, hold_seconds = sys.argv[1:]
    driver: Driver = import_module(module).Driver(folder, f"agent-{number}")
    own_key, tally = f"bench:{number}", Tally(folder, int(number))
    warm_up(driver, own_key)
    say(driver.facts().to_json())
    until = wait_for_the_start()
    if Load(load) is Load.DISTINCT_KEYS:
        say(claim_apart(driver, own_key, until).to_json())
    else:
        say(claim_together(driver, tally, float(hold_seconds), until).to_json())
    tally.close()
    driver.close()


def warm_up(driver: Driver, key: str) -> None:
    """Have all loaded and opened that the first claim loads and opens."""
    assert driver.claim(key), key
    driver.release(key)


def wait_for_the_start() -> float:
    """When to stop."""
    start, until = map(float, sys.stdin.readline().split())
    time.sleep(max(0.0, start - time.monotonic()))
    return until


def say(line: str) -> None:
    """Tell the one who started this process."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
