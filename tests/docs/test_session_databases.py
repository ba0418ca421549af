"""The recipes of docs/sessions.md give each session a database of its own, and drop it."""

import os
import sqlite3
import subprocess
from pathlib import Path

import psycopg
import pytest
from tests.docs.session_states import PAGE
from tests.services.postgres_server import USER, PostgresAddress, new_database
from tests.services.programs import find_or_install
from tests.unit.session_host.repository import Project
from tests.unit.session_host.test_turn import in_a_process

from commonhold.session_host.leftovers import Leftovers
from commonhold.session_host.session_files import WorkspaceNote

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    (made.root / "scripts").mkdir()
    return made


def recipe(name: str) -> str:
    """Return the script of that name from the page."""
    (found,) = (each for each in PAGE.read_text().split("```") if each.startswith(f"sh\n# scripts/{name}"))
    return found.removeprefix("sh\n")


def set_up(project: Project, session: str, line: str, teardown: str = "") -> tuple[WorkspaceNote, str]:
    """Make a workspace and run its set-up command; return the database that the agent finds."""
    note = project.worktrees.make(project.session(session, setup=line, teardown=teardown), 1)
    subprocess.run(["sh", "-c", line], cwd=note.path, check=True)
    return note, Path(note.path, ".env").read_text().strip().removeprefix("DATABASE_URL=")


def remove(project: Project, note: WorkspaceNote) -> None:
    project.files.of_session(note.session)
    in_a_process(lambda: Leftovers(project.worktrees, project.files, os.environ).remove(note))


def test_a_postgresql_database_is_made_and_dropped_with_each_session(
    project: Project, postgres_address: PostgresAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{find_or_install('initdb').resolve().parent}:{os.environ['PATH']}")
    for name, value in (("HOST", postgres_address.socket_folder), ("PORT", postgres_address.port), ("USER", USER)):
        monkeypatch.setenv(f"PG{name}", str(value))
    script = "sh scripts/session-database"
    with new_database(postgres_address) as template:
        with psycopg.connect(template.socket_url) as connection:
            connection.execute("CREATE TABLE price (cents integer)")
        project.write("scripts/session-database", recipe("session-database").replace("app_template", template.name))
        project.commit("script")
        (note, url), (rest, other) = (set_up(project, each, f"{script} up", f"{script} down") for each in ("s1", "s2"))
        with psycopg.connect(url) as one, psycopg.connect(other) as two:
            one.execute("INSERT INTO price VALUES (1)")
            one.commit()
            assert two.execute("SELECT * FROM price").fetchall() == []
        remove(project, note)
        with psycopg.connect(template.socket_url) as connection:
            names = {name for (name,) in connection.execute("SELECT datname FROM pg_database").fetchall()}
        assert {url.rpartition("/")[2], other.rpartition("/")[2]} & names == {other.rpartition("/")[2]}
        remove(project, rest)


def test_a_sqlite_file_is_copied_while_another_writes_to_it(project: Project, tmp_path: Path) -> None:
    project.write("scripts/session-sqlite", recipe("session-sqlite"))
    project.commit("script")
    original = tmp_path / "app.sqlite3"
    with sqlite3.connect(original) as writer:
        writer.executescript("PRAGMA journal_mode=wal; CREATE TABLE price (cents); INSERT INTO price VALUES (1)")
        _, url = set_up(project, "s1", f"sh scripts/session-sqlite {original}")
        writer.execute("INSERT INTO price VALUES (2)")
    writer.close()
    copy = sqlite3.connect(url.removeprefix("sqlite://"))
    assert copy.execute("SELECT cents FROM price").fetchall() == [(1,)]
    copy.close()
