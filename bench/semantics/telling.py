"""What was measured, in tables; and every result, one a line, in a file."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.semantics.conflicts import Checked
from bench.semantics.mutants import Kind
from bench.semantics.mutations import Judged
from bench.semantics.pairs import Caught
from bench.semantics.replays import Replayed
from bench.semantics.verdicts import Level

MUTATIONS_HEAD = (
    f"{'':<46}{'all':>5}{'breaking':>10}{'flagged':>9}{'blocked':>9}{'names caller':>14}{'of flagged':>12}"
    f"{'by text':>9}{'harmless':>10}{'flagged':>9}"
)


def write(path: Path, results: Iterable[Any]) -> None:
    """Keep the results, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(asdict(each), sort_keys=True) + "\n" for each in results))


def share(part: int, whole: int) -> str:
    """A part of a whole, in percent."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def tell_mutations(judged: Sequence[Judged]) -> None:
    """Print what became of each kind of mutant, then all that went wrong with the breaking ones."""
    print(f"\n{MUTATIONS_HEAD}")
    for kind in Kind:
        group = [each for each in judged if each.kind is kind]
        _mutations_row(str(kind), group)
        for project in dict.fromkeys(each.project for each in group):
            _mutations_row(f"  {project}", [each for each in group if each.project == project])
    for each in judged:
        if each.crash:
            print(f"crashed: {each.project}: {each.mutant}: {each.crash.splitlines()[-1]}")
        elif each.is_breaking and not each.is_flagged:
            print(f"missed: {each.project}: {each.mutant}")


def _mutations_row(name: str, group: Sequence[Judged]) -> None:
    breaking = [each for each in group if each.is_breaking]
    harmless = [each for each in group if not each.is_breaking]
    flagged = [each for each in breaking if each.is_flagged]
    blocked = [each for each in breaking if each.level is Level.BLOCKED]
    exact = [each for each in flagged if each.names_caller]
    print(
        f"{name:<46}{len(group):>5}{len(breaking):>10}{share(len(flagged), len(breaking)):>9}"
        f"{share(len(blocked), len(breaking)):>9}{share(len(exact), len(breaking)):>14}"
        f"{share(len(exact), len(flagged)):>12}{share(sum(each.by_text for each in blocked), len(flagged)):>9}"
        f"{len(harmless):>10}{share(sum(each.is_flagged for each in harmless), len(harmless)):>9}"
    )


def tell_replays(replayed: Sequence[Replayed]) -> None:
    """Print how many real commits would have been stopped, and each of them."""
    print(f"\n{'':<12}{'commits':>9}{'blocked':>9}{'':>9}{'escalated':>11}{'':>9}")
    for project in [*dict.fromkeys(each.commit.partition(":")[0] for each in replayed), ""]:
        group = [each for each in replayed if each.commit.startswith(f"{project}:" if project else "")]
        numbers = [sum(each.level is level for each in group) for level in (Level.BLOCKED, Level.ESCALATED)]
        blocked, escalated = (f"{number:>9}{share(number, len(group)):>9}" for number in numbers)
        print(f"{project or 'all':<12}{len(group):>9}{blocked}  {escalated}")
    for each in replayed:
        if each.level is not Level.ADMITTED:
            print(f"{each.level.name.lower()}: {each.commit} {each.subject}")
            for named in each.named:
                print(f"    {named}")


def tell_pairs(caught: Sequence[Caught]) -> None:
    """Print how many pairs were stopped, in both orders, and each that was not."""
    print(f"\n{'the new caller is':<46}{'pairs':>6}{'caller second':>15}{'signature second':>18}")
    for form in [*dict.fromkeys(each.form for each in caught), ""]:
        group = [each for each in caught if form in ("", each.form)]
        orders = (sum(each.is_caught[order] for each in group) for order in (0, 1))
        first, second = (share(number, len(group)) for number in orders)
        print(f"{form or 'all':<46}{len(group):>6}{first:>15}{second:>18}")
    for each in caught:
        if not all(each.is_caught):
            print(f"missed: {each.is_caught} {each.pair}")


def tell_conflicts(checked: Sequence[Checked]) -> None:
    """Print what the check says of each pair of patches."""
    print(f"\n{'':<24}{'expected':>10}  what the check says, whoever merges whom")
    for each in checked:
        expected = "admitted" if each.is_control else "flagged"
        print(f"{each.name:<24}{expected:>10}  {', '.join(each.outcomes)}{'' if each.is_right else '  WRONG'}")
    print(f"right: {sum(each.is_right for each in checked)} of {len(checked)}")
