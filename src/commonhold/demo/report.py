"""The report: the same workload under three policies, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from rich.table import Table
from rich.text import Text

from commonhold.demo.messages import Policy
from commonhold.demo.options import DemoOptions
from commonhold.kernel.texts import counted

TITLES: Final[Mapping[Policy, str]] = {
    Policy.NONE: "no coordination",
    Policy.FILE: "file leases",
    Policy.COMMONHOLD: "Commonhold",
}
_FREE_SHARE: Final = 0.6
"""The least speed of many agents without waiting, as a share of the speed of one agent times their number."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a workload. `applied` edits were reported as successful; `lost_updates` of them are missing.

    `refused` are answers that said no, `retries` edits that had to be thought over again.
    """

    wall_seconds: float
    edits: int
    applied: int
    refused: int
    retries: int
    lost_updates: int
    compiles: bool

    @property
    def rate(self) -> float:
        """Edits applied, and kept, per second."""
        return (self.applied - self.lost_updates) / self.wall_seconds

    @property
    def is_clean(self) -> bool:
        """Whether all edits were applied and are there, and the package still works."""
        return self.applied == self.edits and not self.lost_updates and self.compiles


@dataclass(frozen=True, slots=True)
class Report:
    """All outcomes, and that of one agent alone with its share of the same work; None if speed was not measured."""

    policies: Mapping[Policy, Outcome]
    one_agent: Outcome | None
    options: DemoOptions

    @property
    def is_proof(self) -> bool:
        """Whether Commonhold kept its promises."""
        return self.policies[Policy.COMMONHOLD].is_clean and (self.one_agent is None or self.one_agent.is_clean)

    @property
    def can_compare(self) -> bool:
        """Whether speeds can be compared: many agents that never wait were about that many times as fast as one alone.

        If they were not, the machine was too small or too busy, and the figures measure the machine.
        """
        if self.one_agent is None:
            return False
        free = self.policies[Policy.NONE]
        return free.applied / free.wall_seconds >= _FREE_SHARE * self.options.agents * self.one_agent.rate

    def speedup(self, policy: Policy) -> float:
        """Return the speed as a multiple of the rate of one agent; 0 if that was not measured."""
        return self.policies[policy].rate / self.one_agent.rate if self.one_agent else 0.0

    def shape(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "policies": {
                policy.value: {**msgspec.to_builtins(outcome), "speedup_vs_one_agent": self._told_speedup(policy)}
                for policy, outcome in self.policies.items()
            },
            "speedup_vs_one_agent": self._told_speedup(Policy.COMMONHOLD),
            "one_agent": self.one_agent and msgspec.to_builtins(self.one_agent),
            "workload": {
                "agents": self.options.agents,
                "edits_each": self.options.edits,
                "think_seconds": self.options.think,
                "seed": self.options.seed,
            },
        }

    def _told_speedup(self, policy: Policy) -> float | None:
        return round(self.speedup(policy), 2) if self.one_agent else None

    def table(self) -> Table:
        """Return the form for people."""
        table = Table(title="The same edits under three policies", title_style="bold")
        table.add_column("")
        for policy in Policy:
            style = "bold" if policy is Policy.COMMONHOLD else ""
            table.add_column(TITLES[policy], justify="right", style=style)
        for name, cells in self._rows():
            table.add_row(name, *cells)
        return table

    def _rows(self) -> list[tuple[str, list[Text]]]:
        outcomes = [self.policies[policy] for policy in Policy]
        kept = [
            ("edits reported as done", [_part(each.applied, each.edits) for each in outcomes]),
            ("lost updates", [_good(str(each.lost_updates), not each.lost_updates) for each in outcomes]),
            ("answers that said no", [Text(str(each.refused)) for each in outcomes]),
            ("edits thought over again", [Text(str(each.retries)) for each in outcomes]),
            ("package still works", [_good("yes" if each.compiles else "no", each.compiles) for each in outcomes]),
        ]
        if not self.can_compare:
            return kept
        return [
            *kept,
            ("wall time", [Text(f"{each.wall_seconds:.1f} s") for each in outcomes]),
            ("edits kept a second", [Text(f"{each.rate:.1f}") for each in outcomes]),
            ("times one agent's speed", [Text(f"{self.speedup(policy):.1f} x") for policy in Policy]),
        ]

    def words(self) -> str:
        """Return the meaning of the table, in words."""
        none, file, ours = (self.policies[policy] for policy in Policy)
        lost = f"{ours.lost_updates} lost, {ours.applied} of {ours.edits} applied"
        return "\n".join(
            [
                f"No coordination: {none.lost_updates} of {none.applied} edits were reported as done and are gone.",
                f"File leases: {file.lost_updates} lost; agents wait for held files{self._work_done(Policy.FILE)}.",
                f"Commonhold: {lost}{self._work_done(Policy.COMMONHOLD)}.{_collided(ours)}",
                self._on_times(),
            ]
        )

    def _on_times(self) -> str:
        if self.one_agent is None:
            return "Speed is not measured in so short a run: `commonhold demo` without --quick does that."
        if not self.can_compare:
            return "Speed is not shown: this machine was too busy for so many agents at once to measure anything else."
        return (
            f"The measure of speed is a fourth run, agent-1 alone with its {counted(self.one_agent.edits, 'edit')}: "
            f"{self.one_agent.wall_seconds:.1f} s.\n"
            "Times depend on this machine and on its other load: compare them within one run only."
        )

    def _work_done(self, policy: Policy) -> str:
        if not self.can_compare:
            return ""
        return f"; {counted(self.options.agents, 'agent')} did the work of {self.speedup(policy):.1f}"


def _collided(outcome: Outcome) -> str:
    if not outcome.retries:
        return ""
    how = "it was" if outcome.retries == 1 else "each was"
    return (
        f" {counted(outcome.retries, 'edit')} collided: {how} refused with the fresh text, thought over again,"
        " and applied."
    )


def _part(count: int, whole: int) -> Text:
    return _good(f"{count} of {whole}", count == whole)


def _good(text: str, is_good: bool) -> Text:  # noqa: FBT001 - which of two colours, nothing more
    return Text(text, style="green" if is_good else "bold red")
