"""The JSON forms of the context archive."""

from collections.abc import Sequence

from commonhold.api.wire.text import Json
from commonhold.tasks.archive import Entry, Found, Quote
from commonhold.tasks.linking import Links
from commonhold.tasks.notes import Section


def section(value: Section) -> Json:
    """One section; `section` is its name, as `archive show` takes it."""
    return {
        "section": value.name,
        "anchor": f"{value.path}#{value.anchor}",
        "title": value.title,
        "trail": list(value.trail),
        "line": value.line,
        "text": value.text,
    }


def sections(values: Sequence[Section]) -> Json:
    """The answer to show."""
    return {"sections": [section(each) for each in values]}


def found(values: Sequence[Found]) -> Json:
    """The answer to a search by words, best first."""
    return {"found": [{**section(each.section), "score": round(each.score, 3)} for each in values]}


def quotes(values: Sequence[Quote]) -> Json:
    """The answer to a search by keys, best first; `cut` if the text is only the beginning of the section."""
    return {
        "found": [{**section(each.section), "text": each.text, "why": each.why, "cut": each.is_cut} for each in values]
    }


def entries(values: Sequence[Entry]) -> Json:
    """The list of notes; `problem` says why one was not read."""
    return {
        "notes": [
            {
                "path": each.path,
                "title": each.title,
                "sections": each.sections,
                "kind": each.kind or None,
                "date": each.date or None,
                "by": each.by or None,
                "applies_to": list(each.applies_to),
                "problem": each.problem or None,
            }
            for each in values
        ]
    }


def links(values: Links) -> Json:
    """The links of sections to keys."""
    return {"links": [{"section": name, "keys": list(keys)} for name, keys in sorted(values.items())]}
