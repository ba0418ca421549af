"""Every store of the sections of notes is held to one suite."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from commonhold.stores.archive.sections import DATABASE, SqliteSections
from commonhold.tasks.notes import read_note
from commonhold.testing.conformance.sections import SectionsConformance


class TestSqlite(SectionsConformance):
    @pytest.fixture
    def sections(self, tmp_path: Path) -> Iterator[SqliteSections]:
        with closing(SqliteSections(str(tmp_path), "/tree")) as sections:
            yield sections

    def test_another_working_tree_has_notes_of_its_own(self, sections: SqliteSections, tmp_path: Path) -> None:
        sections.update([("s", read_note("a.md", b"# Word\n\nword\n"))], ())
        with closing(SqliteSections(str(tmp_path), "/other")) as other:
            assert (other.entries(), other.search(["word"], needs_all=False, limit=5)) == ((), ())
            other.update([("t", read_note("a.md", b"# Other\n"))], ())
        assert sections.stamps() == {"a.md": "s"}

    def test_a_damaged_copy_is_made_anew(self, tmp_path: Path) -> None:
        for damage in (b"no database at all, but long enough to be taken for one" * 100, b""):
            (tmp_path / DATABASE).write_bytes(damage)
            with closing(SqliteSections(str(tmp_path), "/tree")) as sections:
                sections.update([("s", read_note("a.md", b"# Word\n"))], ())
            with closing(SqliteSections(str(tmp_path), "/tree")) as sections:
                assert sections.stamps() == {"a.md": "s"}

    def test_a_writer_that_finds_another_at_it_leaves_all_as_it_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("commonhold.stores.archive.sections._PATIENCE_MS", 10)
        with closing(SqliteSections(str(tmp_path), "/t")) as one, closing(SqliteSections(str(tmp_path), "/t")) as two:
            one._connection.execute("BEGIN IMMEDIATE")
            two.update([("s", read_note("a.md", b"# Word\n"))], ())
            one._connection.execute("ROLLBACK")
            assert two.stamps() == {}
            two.update([("s", read_note("a.md", b"# Word\n"))], ())
            assert one.stamps() == {"a.md": "s"}


class TestInMemory(SectionsConformance):
    """If nothing can be stored on disk."""

    @pytest.fixture
    def sections(self) -> Iterator[SqliteSections]:
        with closing(SqliteSections(None, "/tree")) as sections:
            yield sections
