"""A crew of processes that take, write and let go at once, some of them killed: `crew.py ORDER`, ORDER being JSON.

Each worker writes down each call before it makes it and after it was answered, by the one monotonic clock of the
machine. The crew is forked from one process, so that starting costs little; each worker opens its own session.
"""

import json
import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import commonhold
from commonhold import Commonhold, Mode

KEYS: Final = ("h:1", "h:1:a", "h:1:b", "h:2")
"""The first contains the next two."""
WAIT_SECONDS: Final = 30.0
PATIENCE_SECONDS: Final = 1.0
"""How long the place in line of one that was killed outlives it."""


@dataclass(frozen=True)
class Order:
    """What is asked of a crew: where, how many, how long, how many are killed, and where to write it down.

    It works until `seconds` are over and each has tried to take something `rounds` times, however slow the machine.
    """

    root: str
    choices: dict[str, Any]
    folder: str
    workers: int
    killed: int
    seconds: float
    rounds: int
    ttl_seconds: float
    seed: int


class Worker:
    """One process, under one name after the other: whoever abandons a lease must not show signs of life."""

    def __init__(self, order: Order, name: str) -> None:
        self._order = order
        self._name = name
        self._chance = random.Random(f"{order.seed}/{name}")
        self._notes = os.open(Path(order.folder, f"{name}.history"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._calls = self._names = 0
        self._hold = self._session()

    def _session(self) -> Commonhold:
        self._names += 1
        self._holder = f"{self._name}-{self._names}"
        return commonhold.open(self._order.root, agent=self._holder, **self._order.choices)

    def work(self) -> None:
        """Go on until the time is over and enough was tried."""
        end, rounds = time.monotonic() + self._order.seconds, 0
        while rounds < self._order.rounds or time.monotonic() < end:
            self._round()
            rounds += 1
        self._hold.close()

    def _round(self) -> None:
        fence, ticket, key = self._acquire()
        if fence is None:
            return
        for act in self._chance.choices([self._renew, self._write, self._pause], k=self._chance.randrange(3)):
            act(fence, ticket, key)
        if self._chance.random() < 0.99:
            self._call("release", lambda: self._hold.release(ticket), ticket=ticket)
            self._write_late(fence, key)
        else:  # it is left to its time
            self._hold.close()
            self._hold = self._session()

    def _acquire(self) -> tuple[int | None, str, str]:
        key, ticket = self._chance.choice(KEYS), f"{self._holder}.{self._calls}"
        mode = Mode.SHARED if self._chance.random() < 0.2 else Mode.EXCLUSIVE
        wait = WAIT_SECONDS if self._chance.random() < 0.7 else 0.0
        ttl = self._order.ttl_seconds
        more: dict[str, Any] = {"wait_seconds": wait, "patience_seconds": PATIENCE_SECONDS} if wait else {}
        answer = self._call(
            "acquire",
            lambda: self._hold.acquire(key, mode=mode, ttl_seconds=ttl, ticket=ticket, **more),
            keys=[key],
            mode=mode.value,
            ttl=ttl,
            ticket=ticket,
            wait=wait,
        )
        return (answer.lease.fence if answer.lease else None), ticket, key

    def _renew(self, _: int, ticket: str, __: str) -> None:
        ttl = self._order.ttl_seconds
        self._call("renew", lambda: self._hold.renew(ticket, ttl_seconds=ttl), ticket=ticket, ttl=ttl)

    def _write(self, fence: int | None, _: str, key: str) -> None:
        version = self._hold.get(key).version
        self._put(key, version, fence)

    def _pause(self, *_: object) -> None:
        time.sleep(self._chance.uniform(0.0, 0.01))

    def _write_late(self, fence: int, key: str) -> None:
        """Now and then under the lease that was just released, or without one."""
        if self._chance.random() < 0.1:
            self._write(self._chance.choice([fence, None]), "", key)

    def _put(self, key: str, expected: int, fence: int | None) -> None:
        text = f"{self._name}.{self._calls}"
        self._call(
            "put",
            lambda: self._hold.put(key, text, expected_version=expected, fence=fence),
            key=key,
            text=text,
            expected=expected,
            fence=fence,
        )

    def _call(self, what: str, call: Any, **given: object) -> Any:
        self._calls += 1
        number, holder = self._calls, self._holder
        self._note(number=number, what=what, holder=holder, asked=time.monotonic(), given=given)
        answer = call()
        self._note(number=number, answered=time.monotonic(), answer=_parts(answer))
        return answer

    def _note(self, **facts: object) -> None:
        os.write(self._notes, json.dumps(facts).encode() + b"\n")


def _parts(answer: Any) -> dict[str, object]:
    parts: dict[str, object] = {"outcome": answer.outcome}
    if answer.outcome == "granted":
        parts["fence"] = answer.lease.fence
    if answer.outcome == "stored":
        parts["version"] = answer.value.version
    return parts


def _begin(order: Order, name: str) -> int:
    """Fork a worker; its process."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            Worker(order, name).work()
            status = 0
        finally:
            os._exit(status)
    return pid


def main(order: Order) -> int:
    """Let all work, kill some in the middle, and wait for the others; how many of those failed."""
    pids = [_begin(order, f"w{number}") for number in range(order.workers)]
    killed = pids[: order.killed]
    for pid in killed:
        time.sleep(order.seconds / (order.killed + 2))
        os.kill(pid, signal.SIGKILL)
    statuses = {pid: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids}
    return sum(status != 0 for pid, status in statuses.items() if pid not in killed)


if __name__ == "__main__":
    sys.exit(main(Order(**json.loads(sys.argv[1]))))
