"""The display of the demo while it runs: a live table on a terminal, plain lines elsewhere."""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from commonhold.demo.messages import Progress, What
from commonhold.kernel.lease import Lease

NEWS_LINES: Final = 4
BAR_WIDTH: Final = 12
LEGEND: Final = "  ● holds a lease now; refused: answers that said no; redone: edits thought over again"
_LOOKS: Final = {
    What.READING: "cyan",
    What.THINKING: "white",
    What.RETHINKING: "yellow",
    What.WRITING: "green",
    What.WAITING: "magenta",
    What.REFUSED: "yellow",
    What.GAVE_UP: "bold red",
    What.DONE: "bold green",
}


@dataclass(slots=True)
class Row:
    """The progress of one agent under the present policy."""

    name: str
    state: What | None = None
    place: str = ""
    applied: set[int] = field(default_factory=set)
    refused: int = 0
    retries: int = 0
    gave_up: int = 0

    def hear(self, progress: Progress) -> None:
        """Update the row with a progress report of its agent."""
        self.state = progress.what
        self.place = progress.place or self.place
        match progress.what:
            case What.APPLIED:
                self.applied.add(progress.number)
            case What.REFUSED:
                self.refused += 1
            case What.RETHINKING:
                self.retries += 1
            case What.GAVE_UP:
                self.gave_up += 1
            case _:
                pass


class Board:
    """The progress of all agents in a run of the demo, as a rich renderable."""

    def __init__(self, title: str, names: Sequence[str], edits: int) -> None:
        """Start with empty progress; each of the agents `names` is to make `edits` edits."""
        self._names = tuple(names)
        self._edits = edits
        self._title = title
        self._past: list[Text] = []
        self._explanation = ""
        self.news: deque[str] = deque(maxlen=NEWS_LINES)
        self.leases: tuple[Lease, ...] = ()
        self.phase = "connecting"
        self.ready = 0
        self.rows: dict[str, Row] = {}
        self._began: float | None = None

    def hear(self, name: str, progress: Progress) -> None:
        """Update the board with a progress report of the agent `name`."""
        if progress.what is What.READY:
            self.ready += 1
            return
        self.rows[name].hear(progress)
        if progress.what in (What.REFUSED, What.GAVE_UP):
            self.news.append(_news(name, progress))

    def begin(self, phase: str, explanation: str, names: Sequence[str]) -> None:
        """Start the run of a policy: clear the rows, and show its name and explanation."""
        self.phase = phase
        self._explanation = explanation
        self.rows = {name: Row(name) for name in names}
        self.news.clear()
        self._began = time.monotonic()

    def end(self, result: Text) -> None:
        """End the run of the policy, and keep `result`, a line about it, on display."""
        self._past.append(result)
        self._began = None
        self.rows = {}
        self.leases = ()

    @property
    def applied(self) -> int:
        """The number of edits that were reported as successful."""
        return sum(len(row.applied) for row in self.rows.values())

    @property
    def line(self) -> str:
        """The progress in one line of plain text, for output that is not a terminal."""
        if not self.rows and self._past:
            return ""
        if not self.rows:
            return f"{self.phase}: {self.ready} of {len(self._names)} agents ready"
        refused = sum(row.refused for row in self.rows.values())
        live = f"{len(self.leases)} {'lease' if len(self.leases) == 1 else 'leases'} live"
        return f"{self.phase}: {self.applied}/{len(self.rows) * self._edits} applied, {refused} refused, {live}"

    def __rich__(self) -> RenderableType:
        """Return the results of earlier policies, the table of the present one, and the newest events."""
        parts: list[RenderableType] = [Text(self._title, style="bold"), *self._past, self._headline(), self._table()]
        parts += [Text(LEGEND, style="dim"), Text(f"  {self.line}", style="bold")]
        parts += [Text(f"  {news}", style="dim", no_wrap=True, overflow="ellipsis") for news in self.news]
        return Group(*parts)

    def _headline(self) -> Text:
        seconds = f"  {time.monotonic() - self._began:.1f} s" if self._began is not None else ""
        return Text.assemble("\n", (self.phase + seconds, "bold cyan"), f"  {self._explanation}")

    def _table(self) -> Table:
        table = Table(box=SIMPLE_HEAD, expand=True, padding=(0, 1, 0, 0), pad_edge=False)
        table.add_column("agent", no_wrap=True, min_width=8)
        table.add_column("does", no_wrap=True, width=14)
        table.add_column("lease", no_wrap=True, justify="center", width=5)
        table.add_column("where", no_wrap=True, overflow="ellipsis", ratio=1)
        table.add_column("applied", no_wrap=True, width=BAR_WIDTH)
        table.add_column("", justify="right", no_wrap=True, width=7)
        table.add_column("refused", justify="right", width=7)
        table.add_column("redone", justify="right", width=6)
        for name in self._names:
            table.add_row(*(self._cells(self.rows[name]) if name in self.rows else (name,)))
        return table

    def _cells(self, row: Row) -> tuple[RenderableType, ...]:
        state = Text(row.state.value if row.state else "", style=_LOOKS.get(row.state, "") if row.state else "")
        lease = "[magenta]●" if any(lease.holder == row.name for lease in self.leases) else ""
        done = len(row.applied)
        bar = ProgressBar(total=self._edits, completed=done, width=BAR_WIDTH, complete_style="green")
        return (
            row.name,
            state,
            lease,
            Text(_short(row.place)),
            bar,
            f"{done}/{self._edits}",
            str(row.refused),
            str(row.retries),
        )


def _short(place: str) -> str:
    return place.rpartition("/")[2]


def _news(name: str, progress: Progress) -> str:
    place = _short(progress.place)
    by = f" ({progress.by})" if progress.by else ""
    match progress.code:
        case "denied":
            return f"{name}: {place} is held{by}, takes another edit first"
        case "REGION_CHANGED":
            return f"{name}: {place} was changed meanwhile{by}, thinks again about the fresh text"
        case "LOCK_CONFLICT":
            return f"{name}: {place} is held{by}, offers the same commit again"
        case code:
            return f"{name}: {place}: {code}{by}"
