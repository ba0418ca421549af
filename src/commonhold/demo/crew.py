"""The agent processes of the demo, from the side of the process that started them."""

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from commonhold.demo.messages import Order, Progress, Spec, What, line
from commonhold.machine.decoding import from_json

GRACE_SECONDS: Final = 6.0
_SERVER: Final = (sys.executable, "-P", "-m", "commonhold", "mcp", "--agent")
Listener = Callable[[str, Progress], None]


class AgentDiedError(Exception):
    """An agent process ended before its work did."""


class Member:
    """One agent process."""

    def __init__(self, name: str, process: Process, log: Path) -> None:
        """Speak to `process`, which was started with pipes; its standard error goes to `log`."""
        if process.stdin is None or process.stdout is None:
            raise ValueError("the process has no pipes")
        self.name = name
        self._process = process
        self._orders = process.stdin
        self._words = process.stdout
        self._log = log

    async def until(self, what: What, listener: Listener) -> None:
        """Pass on the reports of the agent until it reports `what`. Raises AgentDiedError if it ends first."""
        while text := await self._words.readline():
            progress = from_json(text, Progress)
            listener(self.name, progress)
            if progress.what is what:
                return
        tail = self._log.read_text(encoding="utf-8", errors="replace").strip()[-2000:]
        raise AgentDiedError(f"{self.name} ended in the middle of its work. Its last words:\n{tail or '(none)'}")

    def order(self, order: Order) -> None:
        """Give the agent work."""
        self._orders.write(line(order))

    async def dismiss(self) -> None:
        """End the process: it ends by itself when no more orders can come, and is killed if it does not."""
        self._orders.close()
        for end in (self._process.terminate, self._process.kill):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE_SECONDS):
                    await self._process.wait()
                return
            with contextlib.suppress(ProcessLookupError):
                end()
        await self._process.wait()


@asynccontextmanager
async def crew(count: int, root: Path, logs: Path, environment: Mapping[str, str]) -> AsyncIterator[list[Member]]:
    """Start `count` agents, each with an MCP server of its own for `root`; at the end all of them are gone.

    The servers get `environment` in their environment.
    """
    members: list[Member] = []
    try:
        for number in range(1, count + 1):
            members.append(await _start(f"agent-{number}", root, logs, environment))  # noqa: PERF401 - those started are ended
        yield members
    finally:
        await asyncio.gather(*(member.dismiss() for member in members))


async def _start(name: str, root: Path, logs: Path, environment: Mapping[str, str]) -> Member:
    spec = Spec(name, str(root), [*_SERVER, name], dict(environment))
    log = logs / f"{name}.log"
    with log.open("wb") as errors:
        # In a session of its own: Ctrl-C reaches only the demo, which then ends its agents in order.
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "commonhold.demo.agent",
            msgspec.json.encode(spec).decode(),
            stdin=PIPE,
            stdout=PIPE,
            stderr=errors,
            start_new_session=True,
        )
    return Member(name, process, log)


async def all_say(members: Sequence[Member], what: What, listener: Listener) -> None:
    """Wait until every one of them has reported `what`. Raises AgentDiedError as soon as one cannot any more."""
    try:
        async with asyncio.TaskGroup() as group:
            for member in members:
                group.create_task(member.until(what, listener))
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from faults
