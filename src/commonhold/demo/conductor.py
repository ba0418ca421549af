"""Runs the demo: one stage, one crew, the same workload under one policy after the other."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.text import Text

from commonhold.client.opening import open_session
from commonhold.demo.board import Board
from commonhold.demo.crew import Member, all_say, crew
from commonhold.demo.messages import Order, Policy, What
from commonhold.demo.options import DemoOptions
from commonhold.demo.report import TITLES, Outcome, Report
from commonhold.demo.stage import Stage
from commonhold.demo.workload import Chore, workload

REFRESHES_A_SECOND: Final = 8
PLAIN_LINE_SECONDS: Final = 2.0
Shares = Sequence[Sequence[Chore]]
_EXPLAINED: Final = {
    Policy.NONE: "read whole files, think, write whole files",
    Policy.FILE: "lease whole files for reading, thinking and writing",
    Policy.COMMONHOLD: "read a region, think, commit if it is still the same",
}

ALONE: Final = "one agent alone"
_ALONE_EXPLAINED: Final = "agent-1 does its share alone: the baseline for the speed of many"


class Conductor:
    """One run of the demo in a folder of its own."""

    def __init__(self, options: DemoOptions, folder: Path, console: Console) -> None:
        """Play in `folder`; show progress on `console`."""
        self._options = options
        self._folder = folder
        self._console = console
        self._stage = Stage.build(folder)
        self._shares = workload(
            self._stage.functions(),
            agents=options.agents,
            edits=options.edits,
            think=options.think,
            seed=options.seed,
        )
        names = [f"agent-{number}" for number in range(1, options.agents + 1)]
        title = f"{options.agents} agents, {options.edits} edits each, on a copy of {self._stage.title}"
        self._board = Board(title, names, options.edits)

    async def play(self) -> Report:
        """Run every policy, then one agent alone. Raises AgentDiedError."""
        together = crew(self._options.agents, self._stage.root, self._folder, self._options.environment)
        async with self._shown(), together as members:
            self._board.phase = "every agent starts an MCP server of its own (this takes some seconds)"
            await all_say(members, What.READY, self._board.hear)
            outcomes = {policy: await self._run(policy, TITLES[policy], members, self._shares) for policy in Policy}
            alone = None if self._options.quick else await self._alone(members)
        return Report(outcomes, alone, self._options)

    async def _alone(self, members: Sequence[Member]) -> Outcome:
        return await self._run(Policy.COMMONHOLD, ALONE, members[:1], self._shares[:1])

    async def _run(self, policy: Policy, title: str, members: Sequence[Member], shares: Shares) -> Outcome:
        await asyncio.to_thread(self._stage.restore)
        explanation = _ALONE_EXPLAINED if title == ALONE else _EXPLAINED[policy]
        self._board.begin(title, explanation, [member.name for member in members])
        began = time.monotonic()
        for member, chores in zip(members, shares, strict=True):
            member.order(Order(policy, list(chores)))
        await all_say(members, What.DONE, self._board.hear)
        wall = time.monotonic() - began
        outcome = await asyncio.to_thread(self._outcome, wall, members, shares)
        await asyncio.to_thread(self._stage.record, title.lower().replace(" ", "-"))
        self._board.end(_summary(title, outcome, is_timed=not self._options.quick))
        return outcome

    def _outcome(self, wall: float, members: Sequence[Member], shares: Shares) -> Outcome:
        rows = self._board.rows
        applied = [
            chore
            for member, chores in zip(members, shares, strict=True)
            for chore in chores
            if chore.number in rows[member.name].applied
        ]
        return Outcome(
            wall_seconds=round(wall, 2),
            edits=sum(map(len, shares)),
            applied=len(applied),
            refused=sum(row.refused for row in rows.values()),
            retries=sum(row.retries for row in rows.values()),
            lost_updates=len(self._stage.lost(applied)),
            compiles=self._stage.works(),
        )

    @asynccontextmanager
    async def _shown(self) -> AsyncIterator[None]:
        show = self._live if self._console.is_terminal and not self._options.plain else self._lines
        watching = [asyncio.create_task(show()), asyncio.create_task(self._watch_leases())]
        try:
            yield
        finally:
            for task in watching:
                task.cancel()
            await asyncio.gather(*watching, return_exceptions=True)

    async def _live(self) -> None:
        with Live(self._board, console=self._console, auto_refresh=False, transient=True) as live:
            while True:
                live.refresh()
                await asyncio.sleep(1 / REFRESHES_A_SECOND)

    async def _lines(self) -> None:
        said = ""
        while True:
            if self._board.line not in (said, ""):
                said = self._board.line
                self._console.print(said, highlight=False)
            await asyncio.sleep(PLAIN_LINE_SECONDS)

    async def _watch_leases(self) -> None:
        """Read the leases from the store itself: a lease that the table shows as live is live."""
        with open_session(str(self._stage.root)) as hold:
            while True:
                self._board.leases = await asyncio.to_thread(hold.leases)
                await asyncio.sleep(2 / REFRESHES_A_SECOND)


def _summary(title: str, outcome: Outcome, *, is_timed: bool) -> Text:
    seconds = f" in {outcome.wall_seconds:.1f} s" if is_timed else ""
    works = "the package works" if outcome.compiles else "the package is broken"
    return Text.assemble(
        ("  ✓ " if outcome.is_clean else "  ✗ ", "green" if outcome.is_clean else "bold red"),
        f"{title}: {outcome.applied} of {outcome.edits} edits{seconds}, ",
        (f"{outcome.lost_updates} lost", "" if outcome.is_clean else "bold red"),
        f", {works}",
    )
