"""Links from sections of notes to keys, as the text of one value that all sessions share; and texts of new notes."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.keys import canonical

NOTES_FOLDER: Final = "docs/notes"
_MOST_IN_NAME: Final = 60
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")

Links = Mapping[str, tuple[str, ...]]
"""The linked keys by the name of a section (`path#anchor`), or of a whole note (`path`)."""


def read_links(text: str | None) -> Links:
    """Return the links in the text of their value, without entries that are no links: any session may write it."""
    try:
        read = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(read, dict):
        return {}
    return {name: tuple(filter(_is_key, keys)) for name, keys in read.items() if isinstance(keys, list)}


def _is_key(text: object) -> bool:
    try:
        return isinstance(text, str) and str(canonical(text)) == text
    except CommonholdError:
        return False


def with_links(links: Links, name: str, keys: Iterable[str]) -> str:
    """Return the text of the value with more links."""
    return _text({**links, name: tuple(sorted({*links.get(name, ()), *keys}))})


def without_links(links: Links, name: str, keys: Iterable[str]) -> str:
    """Return the text of the value without these links; without any of the section's if no keys are named."""
    gone = set(keys)
    left = tuple(key for key in links.get(name, ()) if gone and key not in gone)
    return _text({**{each: kept for each, kept in links.items() if each != name}, **({name: left} if left else {})})


def _text(links: Links) -> str:
    return json.dumps(links, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def note_name(date: str, title: str, number: int) -> str:
    """Return the file name of a new note: its date, its title in letters and digits, and a `number` above 1."""
    words = _NOT_IN_NAMES.sub("-", title.lower()).strip("-")[:_MOST_IN_NAME].strip("-") or "note"
    return f"{date}-{words}{f'-{number}' if number > 1 else ''}.md"


def new_note(kind: str, title: str, text: str, *, date: str, by: str, applies_to: Iterable[str]) -> str:
    """Return the text of a new note. All values of its front matter are quoted, so that none can be read otherwise."""
    fields = [f"kind: {_quoted(kind)}", f"date: {_quoted(date)}", f"by: {_quoted(by)}"]
    patterns = [f"  - {_quoted(each)}" for each in applies_to]
    fields += ["applies_to:", *patterns] if patterns else []
    return "\n".join(["---", *fields, "---", "", f"# {title}", "", text.strip("\n"), ""])


def _quoted(text: str) -> str:
    """Return a text as JSON, which is also YAML."""
    return json.dumps(text, ensure_ascii=False)
