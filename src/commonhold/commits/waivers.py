"""Debts that a holder has reviewed, and closes without a change."""

from collections.abc import Sequence

from commonhold.kernel.answers import Next, WaiveAnswer
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.events import DebtWaived
from commonhold.kernel.obligations import Debt, place_of_debt
from commonhold.kernel.ports import Clock, Store
from commonhold.leases.requests import check_reason
from commonhold.reads.reading import RegionReader


class Waivers:
    """Closes debts of one working tree on a holder's decision."""

    def __init__(self, store: Store, clock: Clock, reading: RegionReader) -> None:
        """Record in `store`; resolve with `reading` which regions the keys name."""
        self._store = store
        self._clock = clock
        self._reading = reading

    def waive(self, holder: str, keys: Sequence[str], note: str) -> WaiveAnswer:
        """Close the debts at `keys`, all or none: `holder` has reviewed them, and gives the reason in `note`."""
        check_reason(note, "note")
        if not keys:
            raise UsageError(Code.USAGE, "no key was given", hint="name the keys that review lists")
        named = list(dict.fromkeys(str(self._reading.locate(key)) for key in keys))
        with self._store.write() as writer:
            debts = writer.debts()
            owed = {debt.place: debt for debt in debts}
            found = [owed.get(place_of_debt(self._reading.root, key)) for key in named]
            missing = [key for key, debt in zip(named, found, strict=True) if debt is None]
            if missing:
                return WaiveAnswer("refused", why=_why(missing, debts), next=Next("review", {}, "list the open debts"))
            waived = [debt for debt in found if debt is not None]
            events = [DebtWaived(holder, debt.key, debt.worktree, note) for debt in waived]
            writer.record(events, self._clock.now().wall)
        return WaiveAnswer("waived", tuple(waived))


def _why(missing: Sequence[str], debts: Sequence[Debt]) -> str:
    elsewhere = {debt.worktree for debt in debts if debt.key in missing}
    there = f", but in {', '.join(sorted(elsewhere))}: say it there" if elsewhere else " (any more)"
    return f"nothing is owed at {', '.join(missing)} in this working tree{there}; nothing was waived"
