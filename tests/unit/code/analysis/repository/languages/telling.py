"""Reads the cases in `summaries/` and `crossings/`, and tells what is found today in the words of the cases.

Run this file to write today's findings into the cases,
`python -m tests.unit.code.analysis.repository.languages.telling`, and read the difference.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from commonhold.code.analysis.chains import Chain
from commonhold.code.analysis.references import Receiver, Reference
from commonhold.code.analysis.repository.examination import examine
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.library import Overlay, Shelf
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.analysis.repository.summary import Import, Offer, Summary

HERE = Path(__file__).parent
EXTENSIONS = {
    "go": "go",
    "java": "java",
    "javascript": "js",
    "rust": "rs",
    "tsx": "tsx",
    "typescript": "ts",
}


@dataclass(frozen=True)
class Summarised:
    """A file, and what its summary says."""

    language: str
    title: str
    source: str
    expected: str

    def told(self) -> str:
        return tell(summary_of(self.language, self.source))

    def written(self) -> str:
        return f"== {self.title}\n{self.source}-- expect\n{self.told()}"


@dataclass(frozen=True)
class Crossing:
    """Files, some of them as they become, and whom that concerns."""

    title: str
    before: Mapping[str, str]
    after: Mapping[str, str]
    expected: str

    def told(self) -> str:
        before = Shelf(shelved(self.before))
        after = Overlay(before, {path: shelved({path: text}).get(path) for path, text in self.after.items()})
        concerns = examine(before, after, list(self.after)).concerns
        return "".join(sorted(map(tell_concern, concerns)))

    def written(self) -> str:
        before = "".join(f"-- file {path}\n{text}" for path, text in self.before.items())
        after = "".join(f"-- becomes {path}\n{text}" for path, text in self.after.items())
        return f"== {self.title}\n{before}{after}-- expect\n{self.told()}"


def summary_of(language: str, source: str) -> Summary:
    found = summarise(f"file.{EXTENSIONS[language]}", source.encode())
    assert found is not None
    return found


def shelved(files: Mapping[str, str]) -> dict[str, Summary]:
    found = {path: summarise(path, text.encode()) for path, text in files.items() if text}
    return {path: summary for path, summary in found.items() if summary is not None}


def summarised_cases() -> Iterator[Summarised]:
    for path in sorted((HERE / "summaries").glob("*.txt")):
        for text in path.read_text().split("== ")[1:]:
            title, _, rest = text.partition("\n")
            source, _, expected = rest.partition("-- expect\n")
            yield Summarised(path.stem, title, source, expected)


def crossing_cases() -> Iterator[tuple[str, Crossing]]:
    for path in sorted((HERE / "crossings").glob("*.txt")):
        yield from ((path.stem, read_crossing(text)) for text in path.read_text().split("== ")[1:])


def read_crossing(text: str) -> Crossing:
    title, _, rest = text.partition("\n")
    given, _, expected = rest.partition("-- expect\n")
    sides: dict[str, dict[str, str]] = {"file": {}, "becomes": {}}
    for part in given.split("-- ")[1:]:
        head, _, source = part.partition("\n")
        side, _, path = head.partition(" ")
        sides[side][path] = source
    return Crossing(title, sides["file"], sides["becomes"], expected)


def tell(summary: Summary) -> str:
    lines = [
        *map(tell_offer, summary.offers),
        *map(tell_import, summary.imports),
        *map(tell_use, summary.uses),
        *(f"{each.line} MARK {each.kind}" for each in summary.markers),
        *([f"exports {' '.join(summary.exports)}"] if summary.exports is not None else []),
    ]
    return "".join(f"{line}\n" for line in lines)


def tell_offer(offer: Offer) -> str:
    signatures = "".join(f" {each}" for each in offer.signatures)
    words = [f"{offer.line} OFFER {offer.qualname} {offer.sort}{signatures}"]
    if offer.shape is not None and offer.shape.bases:
        words.append("from " + ", ".join(map(tell_chain, offer.shape.bases)))
    if offer.gives:
        words.append(f"gives {tell_chain(offer.gives)}")
    return " ".join([*words, *([] if offer.is_sole else ["among others"])])


def tell_import(each: Import) -> str:
    name = f" as {each.name}" if each.name != each.member else ""
    member = f" {each.member}" if each.member else ""
    return f"{each.line} TAKE{member}{name} of '{each.module}'{' for all' if each.is_public else ''}"


def tell_use(use: Reference) -> str:
    before = "" if use.receiver is Receiver.NONE else f"{tell_chain(use.chain)} "
    outside = "outside " if use.receiver is Receiver.OUTSIDE else ""
    return f"{use.line} {use.use} {outside}{before}{use.name}{use.shape or ''}"


def tell_chain(chain: Chain) -> str:
    return ">".join(chain)


def tell_concern(concern: Concern) -> str:
    level = "BROKEN" if concern.is_broken else concern.evidence.value.upper()
    return f"{concern.path}:{concern.line} {level} {concern.why('it')}\n"


if __name__ == "__main__":
    for folder, cases in (
        ("summaries", [(case.language, case.written()) for case in summarised_cases()]),
        ("crossings", [(language, case.written()) for language, case in crossing_cases()]),
    ):
        for language in {language for language, _ in cases}:
            text = "".join(written for each, written in cases if each == language)
            (HERE / folder / f"{language}.txt").write_text(text)
