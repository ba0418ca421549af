"""What generated merges came to: one table by language, the pairs of kinds, and a folder for each broken merge."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.merging.generated.measure import Merged
from bench.reporting import Figure, at_least, at_most, report

_MOST_KEPT = 400


@dataclass
class Tally:
    """Counts of merges."""

    total: int = 0
    proven: int = 0
    broken: int = 0
    sampled: int = 0
    one_accepted: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, each: Merged) -> None:
        """Count a merge."""
        self.total += 1
        self.proven += each.is_proven
        self.broken += bool(each.broken)
        self.sampled += each.accepted is not None
        self.one_accepted += each.accepted == 1
        self.reasons.update({*each.reasons})


def tallied(merges: Iterable[Merged]) -> tuple[dict[str, Tally], dict[tuple[str, tuple[str, str]], Tally]]:
    """Counts by language, and by language and pair of kinds."""
    languages: dict[str, Tally] = defaultdict(Tally)
    pairs: dict[tuple[str, tuple[str, str]], Tally] = defaultdict(Tally)
    for each in merges:
        languages[each.language].add(each)
        pairs[each.language, each.kinds].add(each)
    return dict(languages), dict(pairs)


def show(merges: Sequence[Merged], missing: dict[str, str], folder: Path) -> None:
    """Print the table by language and the broken pairs; write all pairs, each broken merge, and the figures."""
    languages, pairs = tallied(merges)
    print("\n".join(table(languages, missing)))
    for (language, kinds), tally in sorted(pairs.items()):
        if tally.broken:
            print(f"  BROKEN {language}: {kinds[0]} | {kinds[1]}: {tally.broken} of {tally.proven}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "merging-generated.txt").write_text("\n".join(pair_table(pairs)) + "\n", encoding="utf-8")
    keep(merges, folder / "merging-generated")
    if languages:
        report("merging-generated", figures(languages))


def table(languages: dict[str, Tally], missing: dict[str, str]) -> Iterator[str]:
    """A line for each language."""
    yield f"{'language':<12}{'merges':>8}{'proven':>8}{'broken':>8}{'refused':>9}  refused, one candidate accepted"
    for language, tally in languages.items():
        counts = f"{tally.total:>8}{tally.proven:>8}{tally.broken:>8}{tally.total - tally.proven:>9}"
        yield f"{language:<12}{counts}  {tally.one_accepted} of {tally.sampled} judged"
    for language, why in missing.items():
        yield f"{language:<12} counted nothing: {why}"


def pair_table(pairs: dict[tuple[str, tuple[str, str]], Tally]) -> Iterator[str]:
    """A line for each pair of kinds in each language."""
    yield f"{'language':<12}{'kinds':<50}{'merges':>8}{'proven':>8}{'broken':>8}"
    for (language, kinds), tally in sorted(pairs.items()):
        yield f"{language:<12}{' | '.join(kinds):<50}{tally.total:>8}{tally.proven:>8}{tally.broken:>8}"


def figures(languages: dict[str, Tally]) -> list[Figure]:
    """The totals, and those of each language."""
    total, proven, broken = (
        sum(getattr(each, name) for each in languages.values()) for name in ("total", "proven", "broken")
    )
    found = [
        at_least("generated merges", total, "merges", 20_000),
        at_least("languages", len(languages), "languages", 10),
        Figure("proven", proven, "merges"),
        at_most("proven and broken", broken, "merges", 0),
        Figure("refused though one candidate is accepted", _share_of_one(languages), "share"),
    ]
    for language, tally in languages.items():
        found += [
            Figure(f"{language}: merges", tally.total, "merges"),
            Figure(f"{language}: proven", tally.proven, "merges"),
            at_most(f"{language}: broken", tally.broken, "merges", 0),
        ]
    return found


def _share_of_one(languages: dict[str, Tally]) -> float:
    sampled = sum(each.sampled for each in languages.values())
    return sum(each.one_accepted for each in languages.values()) / sampled if sampled else 0.0


def keep(merges: Iterable[Merged], folder: Path) -> None:
    """Write the versions of each broken merge, to be looked at."""
    counts: Counter[str] = Counter()
    for each in merges:
        if not each.broken or counts.total() >= _MOST_KEPT:
            continue
        counts[each.language] += 1
        place = folder / f"{each.language}-{counts[each.language]:03}"
        place.mkdir(parents=True, exist_ok=True)
        named = zip(("base", "ours", "theirs", "merged"), (*each.versions, each.result or b""), strict=True)
        for name, text in named:
            (place / f"{name}{Path(each.file).suffix}").write_bytes(text)
        said = "\n".join(f"{count} {sentence}" for sentence, count in each.broken.items())
        (place / "why.txt").write_text(f"{each.file}: {' | '.join(each.kinds)}\n{said}\n", encoding="utf-8")
