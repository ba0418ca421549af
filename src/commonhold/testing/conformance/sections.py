"""The requirements for a store of the sections of notes: the port `commonhold.tasks.archive.Sections`."""
# ruff: noqa: S101, D102 - these are tests: assert is how pytest speaks, and the test's name is its claim

from commonhold.tasks.archive import Entry, Sections
from commonhold.tasks.notes import Note, read_note

AUTH = b"""---
kind: decision
date: 2026-01-31
by: ann
applies_to: ["src/auth/**"]
---
# Authentication

How users log in.

## Tokens

A token expires after 30 minutes. See `refresh_token()`.

### Rotation

Keys rotate weekly.

## Passwords

Never stored; tokens only.
"""
BILLING = "# Abrechnung\n\nBeträge sind Cent, nie floats: src/billing.py.\n".encode()


def copy(sections: Sections, *notes: Note, gone: tuple[str, ...] = ()) -> None:
    """Copy notes, each with a stamp made of its path."""
    sections.update([(f"stamp of {note.path}", note) for note in notes], gone)


def names(sections: Sections, *phrases: str, needs_all: bool = False, limit: int = 10) -> list[str]:
    """Return the names of the sections that are found."""
    return [each.section.name for each in sections.search(phrases, needs_all=needs_all, limit=limit)]


class SectionsConformance:
    """All that is promised of `Sections`. Each test takes the fixture `sections`, which is empty."""

    def test_copied_sections_are_returned(self, sections: Sections) -> None:
        notes = read_note("docs/auth.md", AUTH), read_note("docs/billing.md", BILLING)
        copy(sections, *notes)
        assert sections.stamps() == {note.path: f"stamp of {note.path}" for note in notes}
        assert [sections.note(note.path) for note in notes] == list(notes)
        assert sections.note("docs/other.md") is None
        assert sections.entries() == (
            Entry("docs/auth.md", "Authentication", 4, "decision", "2026-01-31", "ann", ("src/auth/**",), ""),
            Entry("docs/billing.md", "Abrechnung", 1, "", "", "", (), ""),
        )

    def test_a_note_that_could_not_be_read_is_listed_with_its_problem(self, sections: Sections) -> None:
        copy(sections, Note("a.md", problem="it is binary"))
        (entry,) = sections.entries()
        assert (entry.sections, entry.title, entry.problem) == (0, "", "it is binary")
        assert sections.note("a.md") == Note("a.md", problem="it is binary")

    def test_a_changed_note_replaces_its_copy_and_one_that_is_gone_is_dropped(self, sections: Sections) -> None:
        copy(sections, read_note("a.md", AUTH), read_note("b.md", BILLING))
        copy(sections, read_note("a.md", b"# Other\n\nnothing of that\n"), gone=("b.md", "never.md"))
        assert (names(sections, "token"), names(sections, "floats"), names(sections, "nothing")) == ([], [], ["a.md#0"])
        assert list(sections.stamps()) == ["a.md"]

    def test_a_hit_in_a_heading_comes_before_one_in_the_text(self, sections: Sections) -> None:
        copy(sections, read_note("docs/auth.md", AUTH))
        assert names(sections, "tokens")[0] == "docs/auth.md#1"
        assert set(names(sections, "tokens")) == {"docs/auth.md#1", "docs/auth.md#1.1", "docs/auth.md#2"}

    def test_any_phrase_or_all_of_them(self, sections: Sections) -> None:
        copy(sections, read_note("docs/auth.md", AUTH))
        assert names(sections, "expires", "minutes", needs_all=True) == ["docs/auth.md#1"]
        assert names(sections, "expires", "weekly", needs_all=True) == []
        assert set(names(sections, "expires", "weekly")) == {"docs/auth.md#1", "docs/auth.md#1.1"}

    def test_a_phrase_is_compared_word_by_word_without_regard_to_case(self, sections: Sections) -> None:
        copy(sections, read_note("docs/auth.md", AUTH), read_note("docs/billing.md", BILLING))
        assert names(sections, "SRC/billing.py") == ["docs/billing.md#0"]
        assert names(sections, "billing.src") == []
        assert names(sections, "refresh_token") == ["docs/auth.md#1"]
        assert names(sections, "refresh") == []
        assert names(sections, "BETRÄGE") == ["docs/billing.md#0"]

    def test_signs_of_a_query_language_are_only_text(self, sections: Sections) -> None:
        copy(sections, read_note("docs/auth.md", AUTH))
        for text in (
            '"',
            "'",
            "NEAR(",
            "*",
            "a OR b",
            "title:tokens",
            "!&|",
            "x' OR '1'='1",
            "\\",
            "-",
            "",
            "(",
            ":*",
            "<->",
        ):
            assert names(sections, text) in ([], ["docs/auth.md#1"]), text
        assert names(sections) == []

    def test_only_so_many_are_found(self, sections: Sections) -> None:
        copy(sections, *(read_note(f"{number:02}.md", b"# Word\n\nword\n") for number in range(12)))
        assert names(sections, "word", limit=3) == ["00.md#0", "01.md#0", "02.md#0"]
