"""`commonhold archive`: search, show, list, add, link."""

import subprocess
from pathlib import Path

import pytest
from tests.e2e.cli_driver import Call

from commonhold.testing.fakes import FakeClock

pytestmark = pytest.mark.slow
AUTH = "# Auth\n\n## Tokens\n\nSee a.py. \033[31mred\n\n### Rotation\n\nweekly\n"


@pytest.fixture(autouse=True)
def notes(root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "auth.md").write_text(AUTH)


def lines(call: Call, *words: str) -> list[str]:
    done = call("archive", *words)
    assert done.status == 0, done.err
    return done.out.decode().splitlines()


def test_a_search_by_words_quotes_what_it_finds_as_data(run: Call) -> None:
    assert lines(run, "search", "see") == ["docs/auth.md#1  Tokens", "  > See a.py. \\x1b[31mred"]
    (found,) = run("archive", "search", "see", "--json").json["found"]
    assert (found["section"], found["anchor"]) == ("docs/auth.md#1", "docs/auth.md#tokens")
    assert found["text"] == "See a.py. \033[31mred"
    assert run("archive", "search", "nonsense").status == 1
    assert run("archive", "search").status == 2


def test_a_search_by_key_says_why_and_keeps_to_the_budget(run: Call) -> None:
    assert lines(run, "search", "--for", "a.py")[0] == "docs/auth.md#1  Tokens  (it mentions a.py)"
    assert run("archive", "search", "--for", "a.py", "--budget", "5").status == 1
    (found,) = run("archive", "search", "--for", "a.py", "--json").json["found"]
    assert (found["why"], found["cut"]) == ("it mentions a.py", False)


def test_show_prints_a_section_and_those_below(run: Call) -> None:
    assert lines(run, "show", "docs/auth.md#1")[::2] == [
        "docs/auth.md#1  Tokens  (line 3)",
        "docs/auth.md#1.1  Rotation  (line 7)",
    ]
    assert lines(run, "show", "docs/auth.md#rotation") == ["docs/auth.md#1.1  Rotation  (line 7)", "  > weekly"]
    missing = run("archive", "show", "docs/auth.md#7", "--json")
    assert (missing.status, missing.json["code"]) == (3, "SECTION_UNKNOWN")


def test_list_says_why_a_file_is_not_read(root: Path, run: Call) -> None:
    (root / "out.md").symlink_to("/etc/hostname")
    assert lines(run, "list") == [
        "docs/auth.md  Auth",
        "out.md",
        "  not read: it is a link that leads out of the working tree",
    ]
    assert lines(run, "list", "docs/auth.md") == ["0  Auth  #auth", "1  Tokens  #tokens", "  1.1  Rotation  #rotation"]


def test_a_decision_is_a_file_that_is_dated_signed_and_committed(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    # No midnight between the two.
    monkeypatch.setattr("commonhold.cli.archive.SystemClock", lambda: FakeClock(1_767_000_000.0))
    words = ("add", "decision", "Amounts are integers", "--text", "Cents.", "--for", "src/pay/**", "--for", "account:*")
    first = run("archive", *words, "--json").json
    assert (first["outcome"], first["section"]) == ("added", f"{first['path']}#0")
    second = run("archive", *words, "--json").json["path"]
    assert second == first["path"].replace(".md", "-2.md")
    (entry, _) = [each for each in run("archive", "list", "--json").json["notes"] if each["kind"]]
    assert (entry["kind"], entry["by"], entry["applies_to"]) == ("decision", "ann", ["src/pay/**", "account:*"])
    assert first["path"] == f"docs/notes/{entry['date']}-amounts-are-integers.md"
    assert entry["date"] == "2025-12-29"
    found = run("archive", "search", "--for", "src/pay/x.py", "--json").json["found"]
    assert [(each["text"], each["why"]) for each in found] == [("Cents.", "it applies to src/pay/**")] * 2
    assert "decision: Amounts are integers" in run("log").out.decode()
    assert run("archive", "add", "decision", " ", "--text", "x").status == 2


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"\xff\xfe", "TEXT_INVALID"), (b"a\0b", "TEXT_INVALID"), (b"a" * 1_000_001, "FILE_TOO_LARGE")],
)
def test_a_note_is_neither_cut_nor_altered(content: bytes, code: str, root: Path, run: Call) -> None:
    refused = run("archive", "add", "lesson", "T", "--text", "-", "--json", stdin=content)
    assert (refused.status, refused.json["code"]) == (3, code)
    assert not (root / "docs" / "notes").exists()


def test_a_place_that_another_holds_takes_no_note(run: Call) -> None:
    run("acquire", "docs/", "--agent", "ben")
    refused = run("archive", "add", "lesson", "T", "--text", "x", "--json")
    assert (refused.status, refused.json["code"]) == (1, "LOCK_CONFLICT")


def test_a_link_is_kept_by_anchor_and_can_be_taken_back(root: Path, run: Call) -> None:
    assert lines(run, "link", "docs/auth.md#1.1", "b.py", "gpu:1") == ["docs/auth.md#rotation  file:b.py, gpu:1"]
    (root / "docs" / "auth.md").write_text(AUTH.replace("## Tokens", "## New\n\n## Tokens"))
    assert lines(run, "search", "--for", "b.py")[0] == "docs/auth.md#2.1  Rotation  (it is linked to file:b.py)"
    assert lines(run, "link", "docs/auth.md#rotation", "gpu:1", "--remove") == ["docs/auth.md#rotation  file:b.py"]
    assert run("archive", "link", "--json").json == {
        "links": [{"section": "docs/auth.md#rotation", "keys": ["file:b.py"]}]
    }
    assert lines(run, "link", "docs/auth.md#rotation", "--remove") == ["no section is linked to a key"]
    assert run("archive", "link", "docs/auth.md#9", "b.py").status == 3
    assert run("archive", "link", "docs/auth.md").status == 2


def test_ignored_files_are_no_notes(root: Path, run: Call) -> None:
    (root / ".gitignore").write_text("docs/\n")
    assert subprocess.run(("git", "check-ignore", "-q", "docs/auth.md"), cwd=root, check=False).returncode == 0
    assert run("archive", "search", "see").status == 1


def test_a_refusal_quotes_the_notes_that_bear_on_it(run: Call) -> None:
    run("acquire", "a.py", "--agent", "ben")
    denied = run("acquire", "a.py", "--json")
    assert [(each["section"], each["why"]) for each in denied.json["context"]] == [
        ("docs/auth.md#1", "it mentions a.py")
    ]
    said = run("acquire", "a.py").out.decode().splitlines()
    at = said.index("notes of the project that bear on this (quoted from its files):")
    assert said[at + 1 : at + 3] == ["  docs/auth.md#1  Tokens  (it mentions a.py)", "  > See a.py. \\x1b[31mred"]
