"""One demo agent: a process with an MCP client and a server of its own. `python -m commonhold.demo.agent SPEC`.

It reads orders from standard input, reports its progress on standard output, and ends at the end of its input.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from commonhold.demo.messages import Order, Progress, Spec, What, line
from commonhold.demo.policies import FREE, PAUSE_SECONDS, GaveUpError, Way, way
from commonhold.demo.workload import Chore
from commonhold.machine.decoding import from_json

_MAX_LINE_BYTES: Final = 1 << 26


def tell(progress: Progress) -> None:
    """Report progress."""
    sys.stdout.buffer.write(line(progress))
    sys.stdout.buffer.flush()


async def work(chores: Sequence[Chore], policy: Way) -> None:
    """Do all chores in order; a chore that others block is postponed. If all are blocked, pause a moment."""
    waiting = list(chores)
    held: frozenset[str] = FREE
    while waiting:
        chore = next((each for each in waiting if not policy.claims(each) & held), None)
        if chore is None:
            tell(Progress(What.WAITING, waiting[0].number, waiting[0].places[0].key))
            await asyncio.sleep(PAUSE_SECONDS)
            held = FREE
            continue
        now_held = await _attempt(chore, policy)
        held = held | now_held if now_held else FREE
        if not now_held:
            waiting.remove(chore)


async def _attempt(chore: Chore, policy: Way) -> frozenset[str]:
    try:
        held = await policy.attempt(chore)
    except GaveUpError as fault:
        tell(Progress(What.GAVE_UP, chore.number, chore.places[0].key, str(fault)))
        return FREE
    if not held:
        tell(Progress(What.APPLIED, chore.number, chore.places[0].key))
    return held


async def _orders() -> AsyncIterator[Order]:
    reader = asyncio.StreamReader(limit=_MAX_LINE_BYTES)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while order := await reader.readline():
        yield from_json(order, Order)


class Agent:
    """An agent that is connected to its server."""

    def __init__(self, spec: Spec, client: Client) -> None:
        """Act as `spec.name` through `client`."""
        self._root = Path(spec.root)
        self._client = client

    async def obey(self, order: Order) -> None:
        """Carry out the order, and report its end."""
        await work(order.chores, way(order.policy, self._root, self._call, tell))
        tell(Progress(What.DONE))

    async def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await self._client.call_tool(name, arguments)
        text = "".join(getattr(part, "text", "") for part in result.content)
        if result.is_error:
            raise GaveUpError(text)
        answer: dict[str, Any] = msgspec.json.decode(text)
        return answer


async def _obey_all(agent: Agent) -> None:
    """Carry out orders until the input ends, and drop the work in hand then: no process waits for it."""
    current: asyncio.Task[None] | None = None
    async for order in _orders():
        current = asyncio.create_task(agent.obey(order))
        current.add_done_callback(_die_of)
    if current is not None:
        current.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await current


def _die_of(task: asyncio.Task[None]) -> None:
    """End the process if its work failed: the demo notices it, and reports it."""
    if not task.cancelled() and (fault := task.exception()) is not None:
        sys.stderr.write(f"{type(fault).__name__}: {fault}\n")
        sys.stderr.flush()
        os._exit(1)


async def run(spec: Spec) -> None:
    """Connect, then obey."""
    server = StdioServerParameters(command=spec.server[0], args=spec.server[1:], cwd=spec.root, env=spec.environment)
    async with Client(stdio_client(server)) as client:
        tell(Progress(What.READY))
        await _obey_all(Agent(spec, client))


if __name__ == "__main__":
    asyncio.run(run(from_json(sys.argv[1], Spec)))
