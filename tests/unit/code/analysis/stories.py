"""Reads the stories in `cases/`: a file before, a file after, which regions changed, and what admission finds.

Without `-- changed` lines the regions whose keys or hashes differ are the changed ones. Run this file to write the
findings of today into the stories: `python -m tests.unit.code.analysis.stories`; then read the difference.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

from commonhold.code.analysis.admission import Changed, Findings, examine
from commonhold.code.regions.discover import discover
from commonhold.code.regions.region import RegionMap
from commonhold.kernel.keys import Key

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Story:
    title: str
    before: str
    after: str
    changed: tuple[str, ...]
    expected: str

    def findings(self) -> Findings:
        before, after = regions_of(self.before), regions_of(self.after)
        pairs = [read_pair(line, before, after) for line in self.changed] or list(differences(before, after))
        return examine(before, after, pairs)

    def written(self) -> str:
        changed = "".join(f"-- changed {line}\n" for line in self.changed)
        return f"== {self.title}\n{self.before}-- after\n{self.after}{changed}-- expect\n{told(self.findings())}"


def stories() -> Iterator[tuple[Path, Story]]:
    for path in sorted(CASES.glob("*.txt")):
        yield from ((path, read_story(text)) for text in path.read_text().split("== ")[1:])


def read_story(text: str) -> Story:
    title, _, rest = text.partition("\n")
    given, _, expected = rest.partition("-- expect\n")
    before, _, rest = given.partition("-- after\n")
    after, *changed = rest.split("-- changed ")
    return Story(title, before, after, tuple(line.removesuffix("\n") for line in changed), expected)


def regions_of(source: str) -> RegionMap:
    return discover(source.encode(), "m.py")


def read_pair(line: str, before: RegionMap, after: RegionMap) -> Changed:
    """`f -> g`; a side without a name means the whole file if both sides have none, else nothing."""
    old, new = (part.strip() for part in line.split("->"))
    if not old and not new:
        return Changed(before.file.key, after.file.key)
    return Changed(find(before, old), find(after, new))


def find(regions: RegionMap, name: str) -> Key | None:
    return next(region.key for region in regions.regions if region.key.qualname == name) if name else None


def differences(before: RegionMap, after: RegionMap) -> Iterator[Changed]:
    old = {leaf.key: leaf.hash for leaf in before.leaves()}
    new = {leaf.key: leaf.hash for leaf in after.leaves()}
    for key in {**old, **new}:
        if old.get(key) != new.get(key):
            yield Changed(key if key in old else None, key if key in new else None)


def told(findings: Findings) -> str:
    required = (
        f"{one.key.qualname or 'file'}:{one.line}{' BROKEN' if one.still_broken else ''}\n{indent(one.why, '    ')}\n"
        for one in findings.required
    )
    escalations = (f"ESCALATE {one.key} {one.line}\n    {one.why}\n" for one in findings.escalations)
    return "".join((*required, *escalations, *(f"NOTICE {text}\n" for text in findings.notices)))


def rewrite() -> None:
    for path in sorted(CASES.glob("*.txt")):
        path.write_text("".join(story.written() for of, story in stories() if of == path))


if __name__ == "__main__":
    rewrite()
