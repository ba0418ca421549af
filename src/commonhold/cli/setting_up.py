"""Telling what is set, replaced or taken out when Commonhold is installed somewhere."""

from collections.abc import Iterator

from commonhold.adapters.git.installing import Change, Plan
from commonhold.cli.given import Given
from commonhold.cli.output import answer, shown


def tell(given: Given, plan: Plan, *, dry_run: bool) -> None:
    """Tell what was done, or would be."""
    answer(given, plan, lambda plan: _shape(plan, is_dry_run=dry_run), lambda plan: _lines(plan, is_dry_run=dry_run))


def _shape(plan: Plan, *, is_dry_run: bool) -> dict[str, object]:
    changes = [
        {"where": each.where, "name": each.name, "before": each.before, "after": each.after} for each in plan.changes
    ]
    outcome = "changed" if plan.changes else "unchanged"
    return {"outcome": outcome, "changes": changes, "notices": list(plan.notices), "dry_run": is_dry_run}


def _lines(plan: Plan, *, is_dry_run: bool) -> Iterator[str]:
    yield from map(_change, plan.changes)
    yield from (f"notice: {shown(notice)}" for notice in plan.notices)
    if not plan.changes:
        yield "nothing to change: all is as it should be"
    elif is_dry_run:
        yield "(dry run: nothing is changed)"


def _change(change: Change) -> str:
    where = f"{change.where}: {shown(change.name)}"
    if change.after is None:
        return f"removed  {where}"
    if change.where != "config":
        return f"added    {where}"
    return f"{'added   ' if change.before is None else 'replaced'} {where} = {shown(change.after)}"
