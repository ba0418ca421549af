"""Reads the stories in `cases/`: the files of a repository, some of them as they become, and whom that concerns.

    == title
    >> a.py
    the text before
    -- after
    >> a.py
    the text after; a file that is `removed` has none
    -- expect

Everything that is told is written down, so what a story has in its files and not in its findings is a control. Run
this file to write the findings of today into the stories: `python -m tests.unit.code.analysis.repository.stories`;
then read the difference.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from commonhold.code.analysis.repository.examination import examine, examine_throughout
from commonhold.code.analysis.repository.findings import Concern, Links
from commonhold.code.analysis.repository.library import Shelf
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.analysis.repository.summary import Summary

CASES = Path(__file__).parent / "cases"
THROUGHOUT = "throughout: "
Texts = Mapping[str, str | None]


@dataclass(frozen=True)
class Story:
    """`becomes` has None for a file that is removed. A title may ask for what happens inside of one file, too."""

    title: str
    before: Texts
    becomes: Texts
    expected: str

    @property
    def after(self) -> Texts:
        return {**self.before, **self.becomes}

    def findings(self) -> Links:
        look = examine_throughout if self.title.startswith(THROUGHOUT) else examine
        return look(shelf(self.before), shelf(self.after), self.becomes)

    def told(self) -> str:
        return told(self.findings(), shelf(self.after))

    def written(self) -> str:
        return f"== {self.title}\n{_listed(self.before)}-- after\n{_listed(self.becomes)}-- expect\n{self.told()}"


def stories() -> Iterator[tuple[Path, Story]]:
    for path in sorted(CASES.glob("*.txt")):
        yield from ((path, read_story(text)) for text in path.read_text().split("== ")[1:])


def read_story(text: str) -> Story:
    title, _, rest = text.partition("\n")
    given, _, expected = rest.partition("-- expect\n")
    before, _, becomes = given.partition("-- after\n")
    return Story(title, dict(_files(before)), dict(_files(becomes)), expected)


def _files(text: str) -> Iterator[tuple[str, str | None]]:
    for part in f"\n{text}".split("\n>> ")[1:]:
        head, _, source = part.partition("\n")
        path, _, word = head.partition(" ")
        yield path, None if word else f"{source}\n" if source and not source.endswith("\n") else source


def _listed(files: Texts) -> str:
    return "".join(f">> {path} removed\n" if text is None else f">> {path}\n{text}" for path, text in files.items())


def shelf(files: Texts) -> Shelf:
    found = {path: summarise(path, text.encode()) for path, text in files.items() if text is not None}
    return Shelf({path: summary for path, summary in found.items() if summary is not None})


def told(links: Links, after: Shelf) -> str:
    return "".join(sorted((_told(each, after.summary(each.path)) for each in links.concerns), key=_place))


def _told(concern: Concern, summary: Summary | None) -> str:
    place = summary.definition_at(concern.line) if summary else ""
    words = (
        f"{concern.path}:{concern.line}",
        concern.evidence.value,
        *["BROKEN"] * concern.is_broken,
        *["OPEN"] * concern.is_open,
        f"of {concern.target_path}#{concern.target}",
    )
    return f"{' '.join(words)}\n    {concern.why(f'`{place}`' if place else 'the module')}\n"


def _place(text: str) -> tuple[str, int, str]:
    path, _, rest = text.partition(":")
    return path, int(rest.partition(" ")[0]), text


def rewrite() -> None:
    for path in sorted(CASES.glob("*.txt")):
        path.write_text("".join(story.written() for of, story in stories() if of == path))


if __name__ == "__main__":
    rewrite()
