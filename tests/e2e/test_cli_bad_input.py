"""Bad input of every kind: the right code, the right exit status, a hint, nothing written, never a traceback."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import pytest
from tests.e2e.cli_driver import NOBODY, Call, git, immutable, make_repository, mounted, only_root, snapshot, user

from commonhold.cli.changeset_input import MAX_BYTES

pytestmark = pytest.mark.slow

ZERO = "0" * 16
EDIT = {"op": "replace", "key": "a.py#one", "base": ZERO, "text": "def one(): pass\n"}
Arrange = Callable[[Path], AbstractContextManager[object] | None]


@dataclass(frozen=True)
class Case:
    """What is typed, and what must come of it. `arrange` prepares the repository, and may stay in force meanwhile."""

    words: tuple[str, ...]
    code: str
    status: int
    stdin: bytes = b""
    arrange: Arrange = field(default=lambda _root: None)


def write(name: str, data: bytes) -> Arrange:
    def arrange(root: Path) -> None:
        (root / name).write_bytes(data)

    return arrange


def link(name: str, target: str) -> Arrange:
    def arrange(root: Path) -> None:
        (root / name).symlink_to(target)

    return arrange


def big(name: str, size: int) -> Arrange:
    def arrange(root: Path) -> None:
        with (root / name).open("wb") as file:
            file.truncate(size)

    return arrange


def make_folder(name: str) -> Arrange:
    def arrange(root: Path) -> None:
        (root / name).mkdir(parents=True)

    return arrange


def pipe(root: Path) -> None:
    os.mkfifo(root / "pipe")


def lock_file(root: Path) -> AbstractContextManager[None]:
    return immutable(root / "a.py")


def unreadable(root: Path) -> AbstractContextManager[None]:
    give_away(root)
    (root / "a.py").chmod(0)
    return user(NOBODY)


def unreadable_changeset(root: Path) -> AbstractContextManager[None]:
    (root / "c.json").write_bytes(b"{}")
    (root / "c.json").chmod(0)
    give_away(root)
    return user(NOBODY)


def give_away(root: Path) -> None:
    only_root("give files away")
    for place in (root.parent, *root.rglob("*"), root):
        os.chown(place, NOBODY, NOBODY, follow_symlinks=False)
    for above in root.parents[:4]:
        if above.stat().st_uid == 0 and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o005)


def of_another_user(root: Path) -> None:
    only_root("give files away")
    os.chown(root, NOBODY, NOBODY)
    os.chown(root / ".git", NOBODY, NOBODY)


def make_state(root: Path) -> Path:
    folder = root / ".git" / "commonhold"
    from commonhold.bootstrap import open_repository  # noqa: PLC0415 - as late as a command would

    with open_repository(str(root), agent="ben") as hold:
        hold.acquire("x:1")
    return folder


def corrupt(root: Path) -> None:
    (make_state(root) / "state.db").write_bytes(b"no database at all" * 500)


def damaged(root: Path) -> None:
    path = make_state(root) / "state.db"
    data = bytearray(path.read_bytes())
    data[100:] = b"\xa5" * (len(data) - 100)
    path.write_bytes(data)


def newer(root: Path) -> None:
    connection = apsw.Connection(str(make_state(root) / "state.db"))
    connection.pragma("user_version", 99)
    connection.close()


def not_ours(root: Path) -> None:
    connection = apsw.Connection(str(make_state(root) / "state.db"))
    connection.pragma("application_id", 7)
    connection.close()


def read_only_state(root: Path) -> AbstractContextManager[object]:
    folder = root / ".git" / "commonhold"
    stack = ExitStack()
    stack.enter_context(mounted(folder))
    make_state(root)
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    return stack


def full_state(root: Path) -> AbstractContextManager[object]:
    stack = ExitStack()
    folder = stack.enter_context(mounted(root / ".git" / "commonhold", "-o", "size=512k"))
    make_state(root)
    fill(folder)
    return stack


def fill(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def rebase(root: Path) -> None:
    (root / ".git" / "rebase-merge").mkdir()


def bad_settings(root: Path) -> None:
    (root / "commonhold.toml").write_text("ttl = 3\n", encoding="utf-8")


def broken_git(root: Path) -> None:
    (root / ".git" / "HEAD").unlink()


COMMIT_ONE = ("commit", "--key", "a.py#one", "--base")
CASES = {
    # What is typed is no call.
    "no such command": Case(("acquier",), "USAGE", 2),
    "no such option": Case(("status", "--loud"), "USAGE", 2),
    "no key": Case(("acquire",), "USAGE", 2),
    "a ttl of letters": Case(("acquire", "a.py", "--ttl", "abc"), "USAGE", 2),
    "a ttl of zero": Case(("acquire", "a.py", "--ttl", "0"), "TTL_INVALID", 2),
    "a ttl below zero": Case(("acquire", "a.py", "--ttl", "-1"), "TTL_INVALID", 2),
    "a ttl that is no number": Case(("acquire", "a.py", "--ttl", "nan"), "TTL_INVALID", 2),
    "a check without time": Case(("queue", "run", "--check", "true", "--deadline", "0s"), "USAGE", 2),
    "a turn without time": Case(("session", "start", "mend it", "--with", "claude", "--timeout", "0"), "USAGE", 2),
    "a silence that is no time": Case(("session", "start", "mend", "--with", "a", "--silence", "soon"), "USAGE", 2),
    "a ttl without end": Case(("renew", "lease-1", "--ttl", "inf"), "TTL_INVALID", 2),
    "a ttl of years": Case(("acquire", "a.py", "--ttl", "1e9"), "TTL_INVALID", 2),
    "a mode nobody knows": Case(("acquire", "a.py", "--mode", "maybe"), "USAGE", 2),
    "a limit of nothing": Case(("log", "--limit", "0"), "USAGE", 2),
    "a lease without a fence": Case((*COMMIT_ONE, ZERO, "--lease", "lease-1"), "USAGE", 2),
    "a fence of letters": Case((*COMMIT_ONE, ZERO, "--lease", "lease-1:x"), "USAGE", 2),
    "no holder": Case(("acquire", "a.py", "--agent", ""), "HOLDER_MISSING", 2),
    "a blank holder": Case(("acquire", "a.py", "--agent", "  "), "HOLDER_MISSING", 2),
    # Names and texts.
    "a newline in the holder": Case(("acquire", "a.py", "--agent", "a\nb"), "TEXT_INVALID", 3),
    "an escape in the task": Case(("acquire", "a.py", "--task", "\x1b[2J"), "TEXT_INVALID", 3),
    "a newline in the intent": Case((*COMMIT_ONE, ZERO, "--intent", "a\nb"), "TEXT_INVALID", 3, b"x"),
    "a task of a thousand lines": Case(("acquire", "a.py", "--task", "x" * 2001), "TEXT_INVALID", 3),
    "a request id with a bell": Case(("acquire", "a.py", "--request-id", "\a"), "TEXT_INVALID", 3),
    "a key of nothing": Case(("acquire", ""), "KEY_INVALID", 3),
    "a key with empty parts": Case(("acquire", "account:"), "KEY_INVALID", 3),
    "a newline in a name": Case(("regions", "a\nb.py"), "PATH_INVALID", 3),
    "bytes that are not UTF-8": Case(("regions", "a\udcff.py"), "TEXT_INVALID", 3),
    "a task that is not UTF-8": Case(("acquire", "a.py", "--task", "\udcff"), "TEXT_INVALID", 3),
    # Paths.
    "no such file": Case(("regions", "nope.py"), "FILE_NOT_FOUND", 3),
    "no such folder to be in": Case(("-C", "nope", "status"), "FILE_NOT_FOUND", 3),
    "a folder": Case(("regions", "sub"), "NOT_A_FILE", 3, arrange=make_folder("sub")),
    "a folder's region": Case(("acquire", "sub#one"), "NOT_A_FILE", 3, arrange=make_folder("sub")),
    "a pipe": Case(("regions", "pipe"), "NOT_A_FILE", 3, arrange=pipe),
    "a name that is no file": Case(("show", "account:12345"), "NOT_A_FILE", 3),
    "outside by dots": Case(("acquire", "../a.py"), "PATH_OUTSIDE", 3),
    "outside from the root": Case(("show", "/etc/passwd"), "PATH_OUTSIDE", 3),
    "outside by a link": Case(("show", "l"), "PATH_OUTSIDE", 3, arrange=link("l", "/etc/passwd")),
    "outside by a linked folder": Case(
        ("commit", "--key", "l/new.py", "--create"), "PATH_OUTSIDE", 3, b"x", link("l", "../..")
    ),
    "round in links": Case(("show", "l"), "PATH_INVALID", 3, arrange=link("l", "l")),
    "inside git": Case(("commit", "--key", ".git/hooks/x", "--create"), "PATH_RESERVED", 3, b"x"),
    "a huge file": Case(("show", "big.py"), "FILE_TOO_LARGE", 3, arrange=big("big.py", 10_000_001)),
    "a huge new text": Case(("commit", "--key", "b.txt", "--create"), "FILE_TOO_LARGE", 3, b"x" * 10_000_001),
    # Regions.
    "no such region": Case(("show", "a.py#nope"), "REGION_UNKNOWN", 3),
    "no such method": Case(("acquire", "a.py#Nope.grow"), "REGION_UNKNOWN", 3),
    "no region to change": Case(("commit", "--key", "a.py#nope", "--base", ZERO), "REGION_UNKNOWN", 3, b"x"),
    "no region in an empty file": Case(("show", "e.py#f"), "REGION_UNKNOWN", 3, arrange=write("e.py", b"")),
    "a name used twice": Case(
        ("show", "d.py#f"), "REGION_AMBIGUOUS", 3, arrange=write("d.py", b"def f(): pass\ndef f(): pass\n")
    ),
    "Python that is not UTF-8": Case(
        ("show", "d.py#f"), "ENCODING_INVALID", 3, arrange=write("d.py", b"def f():\n    return '\xff'\n")
    ),
    "a new text that is not UTF-8": Case((*COMMIT_ONE, ZERO), "ENCODING_INVALID", 3, b"def one(): '\xff'\n"),
    "a hash that is not kept": Case(("show", "ab" * 32), "CONTENT_UNKNOWN", 3),
    # Changesets.
    "no changeset file": Case(("commit", "--changeset", "c.json"), "FILE_NOT_FOUND", 3),
    "a folder for a changeset": Case(("commit", "--changeset", "sub"), "NOT_A_FILE", 3, arrange=make_folder("sub")),
    "an unreadable changeset": Case(
        ("commit", "--changeset", "c.json"), "PERMISSION_DENIED", 4, arrange=unreadable_changeset
    ),
    "a huge changeset": Case(
        ("commit", "--changeset", "c.json"), "FILE_TOO_LARGE", 3, arrange=big("c.json", MAX_BYTES + 1)
    ),
    "an empty changeset": Case(("commit", "--changeset", "-"), "CHANGESET_INVALID", 3),
    "a changeset that is no JSON": Case(("commit", "--changeset", "-"), "CHANGESET_INVALID", 3, b"{edits"),
    "a changeset that is not UTF-8": Case(("commit", "--changeset", "-"), "CHANGESET_INVALID", 3, b'{"intent":"\xff"}'),
    "a changeset that is a list": Case(("commit", "--changeset", "-"), "CHANGESET_INVALID", 3, b"[]"),
    "a changeset without edits": Case(("commit", "--changeset", "-"), "CHANGESET_INVALID", 3, b'{"edits": []}'),
    "a field nobody knows": Case(("commit", "--changeset", "-"), "CHANGESET_INVALID", 3, b'{"edits": [{"path": "a"}]}'),
    "an op nobody knows": Case(
        ("commit", "--changeset", "-"), "CHANGESET_INVALID", 3, b'{"edits": [{"op": "burn", "key": "a"}]}'
    ),
    "a changeset without a bottom": Case(("commit", "--changeset", "-"), "CHANGESET_INVALID", 3, b"[" * 100_000),
    "a base that is no hash": Case((*COMMIT_ONE, "HEAD"), "CHANGESET_INVALID", 3, b"x"),
    # Settings and repositories.
    "settings nobody knows": Case(("status",), "CONFIG_INVALID", 3, arrange=bad_settings),
    "a bare repository": Case(("-C", ".git", "status"), "REPOSITORY_BARE", 3),
    "a repository of somebody else": Case(("status",), "REPOSITORY_UNTRUSTED", 3, arrange=of_another_user),
    "a .git that is none": Case(("status",), "REPOSITORY_UNTRUSTED", 3, arrange=broken_git),
    "a rebase under way": Case(
        ("commit", "--key", "b.py", "--create"), "REPOSITORY_BUSY", 4, b"x = 1\n", arrange=rebase
    ),
    # The disk and the state.
    "a file that may not be replaced": Case(
        ("commit", "--changeset", "c.json"), "PERMISSION_DENIED", 4, arrange=lock_file
    ),
    "a file that may not be read": Case(("show", "a.py"), "PERMISSION_DENIED", 4, arrange=unreadable),
    "a state that cannot be written": Case(("acquire", "a.py"), "STORE_READ_ONLY", 4, arrange=read_only_state),
    "a full disk": Case(("acquire", "a.py"), "DISK_FULL", 4, arrange=full_state),
    "a file that is no backup": Case(("restore", "a.py", "--yes"), "STORE_CORRUPT", 4),
    "a state that is no database": Case(("acquire", "a.py"), "STORE_CORRUPT", 4, arrange=corrupt),
    "a state that is damaged": Case(("acquire", "a.py"), "STORE_CORRUPT", 4, arrange=damaged),
    "a state of another program": Case(("status",), "STORE_CORRUPT", 4, arrange=not_ours),
    "a state from the future": Case(("status",), "STORE_NEWER", 4, arrange=newer),
}


@pytest.fixture
def arranged(request: pytest.FixtureRequest, root: Path, run: Call) -> Iterator[Case]:
    case: Case = CASES[request.param]
    if case.arrange is lock_file:
        base = run("show", "a.py#one", "--json").json["regions"][0]["hash"]
        (root / "c.json").write_text(json.dumps({"edits": [EDIT | {"base": base}]}), encoding="utf-8")
    if case.arrange in (unreadable, unreadable_changeset):
        run(*case.words, stdin=case.stdin)  # loads all that this command needs, while this user still can
    with case.arrange(root) or nullcontext():
        yield case


@pytest.mark.parametrize("arranged", CASES, indirect=True)
def test_bad_input_gets_its_code_and_changes_nothing(arranged: Case, root: Path, run: Call) -> None:
    before = snapshot(root)
    for_program = run("--json", *arranged.words, stdin=arranged.stdin)
    for_people = run(*arranged.words, stdin=arranged.stdin)
    assert (for_program.json["code"], for_program.status) == (arranged.code, arranged.status)
    assert set(for_program.json) == {"code", "message", "hint", "retryable", "retry_after_seconds", "fields"}
    assert for_program.json["message"]
    assert for_program.json["hint"]
    assert for_people.status == arranged.status
    assert for_people.out == b""
    first, second, *_ = for_people.err.splitlines()
    assert first.startswith("error: ")
    assert first.endswith(f"[{arranged.code}]")
    assert second.startswith("hint: ")
    assert "Traceback" not in for_people.err
    assert snapshot(root) == before


def test_an_empty_file_is_one_empty_region(root: Path, run: Call) -> None:
    (root / "e.py").write_bytes(b"")
    assert run("regions", "e.py").text.count("empty") >= 1
    assert run("show", "e.py").out == b""


def test_a_huge_file_can_be_leased_whole(root: Path, run: Call) -> None:
    big("big.py", 10_000_001)(root)
    assert run("acquire", "big.py").status == 0


def test_a_lease_that_has_expired(run: Call) -> None:
    lease = run("acquire", "a.py#one", "--ttl", "0.01", "--json").json["lease"]
    time.sleep(0.02)
    renewed = run("renew", lease["id"], "--json")
    assert (renewed.status, renewed.json["code"]) == (1, "LEASE_LOST")
    assert renewed.json["next"]["arguments"]["keys"] == ["file:a.py#one"]
    assert "next: commonhold acquire 'file:a.py#one'" in run("release", lease["id"]).text


def test_a_lease_of_somebody_else(run: Call) -> None:
    lease = run("acquire", "a.py#one", "--json").json["lease"]
    refused = run("release", lease["id"], "--agent", "ben")
    assert refused.status == 1
    assert "[NOT_HOLDER]" in refused.text
    assert "next: commonhold leases" in refused.text


def test_a_lease_nobody_ever_had(run: Call) -> None:
    assert "next: commonhold leases" in run("release", "lease-none").text


@pytest.mark.parametrize("move", [Path.unlink, lambda path: path.rename(path.with_name("b.py"))])
def test_a_leased_file_that_vanishes(move: Callable[[Path], object], root: Path, run: Call) -> None:
    base = run("show", "a.py#one", "--json").json["regions"][0]["hash"]
    lease = run("acquire", "a.py#one", "--json").json["lease"]
    move(root / "a.py")
    before = snapshot(root)
    options = (*COMMIT_ONE, base, "--lease", f"{lease['id']}:{lease['fence']}")
    refused = run(*options, stdin=b"def one(): pass\n")
    assert refused.status == 1
    assert "[REGION_CHANGED]" in refused.text
    assert "does not exist" in refused.text
    assert snapshot(root) == before


def test_a_branch_that_is_switched_underneath(root: Path, run: Call) -> None:
    base = run("show", "a.py#one", "--json").json["regions"][0]["hash"]
    git(root, "checkout", "--quiet", "-b", "other")
    (root / "a.py").write_text("def one():\n    return 'elsewhere'\n", encoding="utf-8")
    git(root, "commit", "--quiet", "--all", "--message", "other")
    before = snapshot(root)
    refused = run(*COMMIT_ONE, base, stdin=b"def one(): pass\n")
    assert refused.status == 1
    assert "elsewhere" in refused.text
    assert snapshot(root) == before


def test_a_disk_that_fills_up_under_a_commit(tmp_path: Path, run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    with mounted(tmp_path / "small", "-o", "size=1m") as small:
        make_repository(small)
        monkeypatch.chdir(small)
        base = run("show", "a.py", "--json").json["regions"][0]["hash"]
        fill(small)
        before = snapshot(small)
        done = run("commit", "--json", "--key", "a.py", "--base", base, stdin=b"#" * 120_000)
        monkeypatch.chdir(tmp_path)
        assert (done.json["code"], done.status) == ("DISK_FULL", 4)
        assert snapshot(small) == before


def test_a_folder_that_was_removed_under_ones_feet(root: Path, run: Call) -> None:
    (root / "gone").mkdir()
    os.chdir(root / "gone")
    (root / "gone").rmdir()
    done = run("status", "--json")
    assert (done.json["code"], done.status) == ("IO_FAILED", 4)


def test_a_folder_with_a_name_that_is_no_text(tmp_path: Path, run: Call) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff"
    Path(os.fsdecode(odd)).mkdir()
    os.chdir(odd)
    done = run("status", "--json")
    assert (done.json["code"], done.status) == ("PATH_INVALID", 3)


def test_a_defect_of_ours_is_called_one(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("\x1b")

    monkeypatch.setattr("commonhold.commits.queries.Queries.status", fail)
    done = run("status")
    assert done.status == 5
    assert "please report it" in done.err
    assert "Traceback" not in done.err
    assert "\x1b" not in done.err
    monkeypatch.setenv("COMMONHOLD_DEBUG", "1")
    assert "Traceback" in run("status").err
    assert run("status", "--json").json["code"] == "INTERNAL"


def test_an_interrupt_that_comes_out_wrapped(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError from KeyboardInterrupt()

    monkeypatch.setattr("commonhold.commits.queries.Queries.status", fail)
    done = run("status")
    assert done.status == 130
    assert done.err == "interrupted\n"
