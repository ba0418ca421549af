"""The overview as tables for a terminal."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from commonhold.cli.output import shown
from commonhold.kernel.entry import EntryState
from commonhold.kernel.texts import duration, listed, short_name, short_names
from commonhold.landing.answers import EntryView
from commonhold.views.overview import AgentRow, AgentState, Overview

_STYLES: Final = {
    AgentState.WAITING: "yellow",
    AgentState.WORKING: "green",
    AgentState.FINISHED: "cyan",
    AgentState.SILENT: "bold red",
}
_MOST_CONFLICTS: Final = 8
_MOST_KEYS: Final = 3
_WIDTH: Final = 110
_NARROW: Final = 90
"""With fewer columns than these, what belongs to one agent or need is stacked in two."""


def lines(found: Overview) -> Iterator[str]:
    """Return the same as lines of plain text, as wide as the terminal, or 110 columns elsewhere."""
    width = shutil.get_terminal_size((_WIDTH, 0)).columns
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(drawn(found))
    yield from (line.rstrip() for line in captured.get().splitlines())


def shown_live(look: Callable[[], Overview], wait: Callable[[], None]) -> None:
    """Show the result of `look` in the whole terminal, again after each `wait`, until Ctrl-C."""
    try:
        with Live(drawn(look()), screen=True, auto_refresh=False, vertical_overflow="ellipsis") as live:
            while True:
                live.update(drawn(look()), refresh=True)
                wait()
    except KeyboardInterrupt:
        return


def drawn(found: Overview) -> RenderableType:
    """Return the tables: what needs a person first, then agents, the merge queue, and conflicts."""
    return _Tables(found)


@dataclass(frozen=True, slots=True)
class _Tables:
    found: Overview

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw them for the width that there is."""
        yield from _parts(self.found, is_narrow=options.max_width < _NARROW)


def _parts(found: Overview, *, is_narrow: bool) -> Iterator[RenderableType]:
    yield _figures(found)
    if found.needs:
        needs = _table("for you", "what") if is_narrow else _table("for you", "by", "what", "why")
        for need in found.needs:
            age = "" if need.since is None else _ago(need.since, found)
            by, what, why = Text(shown(short_name(need.holder))), Text(shown(need.title), "bold"), Text(shown(need.why))
            needs.add_row(age, *((_stacked(by, what, why),) if is_narrow else (by, what, why)))
        yield needs
    if found.agents:
        names = ("agent", "does") if is_narrow else ("agent", "state", "for", "last sign", "does", "holds", "waits for")
        agents = _table(*names)
        for row in found.agents:
            cells = tuple(_agent(row, found.at))
            agents.add_row(*(_in_two(cells) if is_narrow else cells))
        yield agents
    else:
        yield Text("no agent is at work; run `commonhold install`, then start your agent here", "dim")
    if found.entries:
        columns = ("landing", "change") if is_narrow else ("landing", "state", "for", "change", "why it waits")
        landing = _table(*columns)
        for view in found.entries:
            cells = branch, state, age, title, why = _entry(view, found)
            narrow = _stacked(branch, Text.assemble(state, f" for {age}")), _stacked(title, why)
            landing.add_row(*(narrow if is_narrow else cells))
        yield landing
    if found.incidents:
        conflicts = _table(*("conflict", "what happened", "code")[: 2 if is_narrow else 3])
        for each in found.incidents[:_MOST_CONFLICTS]:
            text, code = Text(shown(each.text)), Text(each.code, "red")
            conflicts.add_row(_ago(each.at, found), *((_stacked(text, code),) if is_narrow else (text, code)))
        yield conflicts


def _figures(found: Overview) -> Text:
    counts = {state: sum(each.state is state for each in found.agents) for state in AgentState}
    text = Text(shown(found.root.rpartition("/")[2]), "bold")
    for state, count in counts.items():
        text.append(f"   {count} {state}", _STYLES[state] if count else "dim")
    text.append(f"   {len(found.needs)} for you", "bold red" if found.needs else "dim")
    if found.entries:
        text.append(f"   {sum(each.queued + each.testing for each in found.landing)} to land", "cyan")
    if found.landed_at is not None:
        text.append(f"   last landing {duration(found.at - found.landed_at)} ago", "dim")
    return text


def _ago(at: float, found: Overview) -> str:
    return f"{duration(found.at - at)} ago"


def _table(*names: str) -> Table:
    table = Table(box=SIMPLE_HEAD, expand=True, pad_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        is_short = name in ("for", "state", "code", "last sign", "conflict", "for you")
        table.add_column(name, no_wrap=is_short, overflow="fold", header_style="dim")
    return table


def _agent(row: AgentRow, now: float) -> Iterator[Text | str]:
    yield Text(shown(short_name(row.holder)), "bold")
    yield Text(row.state, _STYLES[row.state])
    yield duration(now - row.since)
    yield f"{row.source}, {duration(now - row.seen_at)}"
    yield Text(shown(row.task or row.intent))
    yield Text("\n".join(_keys(lease.keys) for lease in row.holds))
    yield Text("\n".join(f"{_keys(each.keys)} behind {shown(short_names(each.behind))}" for each in row.waits))


def _in_two(cells: Sequence[Text | str]) -> tuple[Group, Group]:
    """Stack the cells of an agent in two columns."""
    holder, state, age, sign, does, *keys = cells
    holds, waits = (f"{word} {each}" if each else "" for word, each in zip(("holds", "waits for"), keys, strict=True))
    return _stacked(holder, Text.assemble(state, f" for {age}"), f"last sign: {sign}"), _stacked(does, holds, waits)


def _stacked(*cells: Text | str) -> Group:
    return Group(*(Text(str(each)) if isinstance(each, str) else each for each in cells if each))


def _entry(view: EntryView, found: Overview) -> tuple[Text, Text, str, Text, Text]:
    record = view.record
    state = Text(record.state, "green" if record.state is EntryState.TESTING else "yellow")
    age = duration(found.at - record.since)
    return Text(shown(record.entry.branch), "bold"), state, age, Text(shown(record.entry.title)), Text(shown(view.why))


def _keys(keys: Iterable[str]) -> str:
    return shown(listed([each.removeprefix("file:") for each in keys], _MOST_KEYS))
