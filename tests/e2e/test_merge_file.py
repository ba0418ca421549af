"""`commonhold merge-file` on real files: what it answers, where it writes, and what it never touches."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.branches import asked, state
from tests.e2e.cli_driver import Call, call, git, immutable, make_repository, process
from tests.line_engine import by_lines

from commonhold.merging.branches.merge_file import merge_file

pytestmark = pytest.mark.slow

BASE, OURS, THEIRS = b"LIMIT = 3\n", b"LIMIT = 4\n", b"LIMIT = 5\n"


@pytest.fixture
def versions(root: Path) -> list[str]:
    """Three versions that nobody can merge, in a folder that git does not see."""
    folder = root.parent / "versions"
    folder.mkdir()
    for name, content in (("base", BASE), ("ours", OURS), ("theirs", THEIRS)):
        (folder / name).write_bytes(content)
    return [str(folder / name) for name in ("base", "ours", "theirs")]


@pytest.fixture
def _line_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert merge_file.__kwdefaults__ is not None
    monkeypatch.setitem(merge_file.__kwdefaults__, "merge", by_lines)


def test_what_one_side_changed_is_merged(run: Call, versions: list[str], tmp_path: Path) -> None:
    base, ours, _ = versions
    done = run("merge-file", "--path", "a.py", base, ours, base, "--out", str(tmp_path / "out"))
    assert (done.status, done.text, done.err) == (0, "PROVEN: a.py\n", "")
    assert (tmp_path / "out").read_bytes() == OURS


def test_two_literals_are_refused_and_out_has_the_markers(run: Call, versions: list[str]) -> None:
    done = run("merge-file", "--path", "a.py", *versions, "--out", versions[1], "--label-theirs", "feature\n x")
    assert done.status == 1
    assert done.text.startswith("REFUSED: a.py: 1 spot cannot be shown to merge\n")
    assert f"next: fix {versions[1]} between the markers" in done.text
    marked = Path(versions[1]).read_bytes()
    assert all(part in marked for part in (b"<<<<<<< ours\n", OURS, b"=======\n", THEIRS, b">>>>>>> feature x\n"))


def test_the_markers_have_the_size_that_is_asked_for(run: Call, versions: list[str]) -> None:
    marked = run("merge-file", "--path", "a.py", *versions, "--marker-size", "11").out
    assert b"\n" + b"=" * 11 + b"\n" in marked
    assert marked.startswith(b"<" * 11 + b" ours\n")


def test_standard_output_gets_the_text_alone(run: Call, versions: list[str]) -> None:
    base, ours, theirs = versions
    done = run("merge-file", "--path", "a.py", base, base, theirs)
    assert (done.out, done.err) == (THEIRS, "PROVEN: a.py\n")
    assert run("merge-file", "--path", "a.py", base, ours, theirs, "--quiet").err.startswith("REFUSED")
    assert run("merge-file", "--path", "a.py", base, ours, base, "--quiet").err == ""


def test_json(run: Call, versions: list[str], tmp_path: Path) -> None:
    answer = run("merge-file", "--path", "a.py", *versions, "--json").json
    assert (answer["outcome"], answer["verdict"], answer["check"]) == ("refused", "REFUSED", None)
    assert answer["spots"][0]["reason"]
    assert answer["spots"][0]["why"]
    assert "<<<<<<<" in answer["text"]
    assert "--check" in answer["hint"]
    to_file = run("merge-file", "--path", "a.py", *versions, "--json", "--out", str(tmp_path / "out")).json
    assert to_file["text"] is None


def test_an_empty_file_stands_for_what_is_not_there(run: Call, versions: list[str]) -> None:
    assert run("merge-file", "--path", "a.py", "/dev/null", versions[1], "/dev/null").out == OURS
    assert run("merge-file", "--path", "a.py", "/dev/null", versions[1], versions[2]).status == 1


def test_binary_files_are_refused_and_left_alone(run: Call, versions: list[str]) -> None:
    for name, content in zip(versions, (b"\0\xff\1", b"\0\xff\2", b"\0\xff\3"), strict=True):
        Path(name).write_bytes(content)
    done = run("merge-file", "--path", "a.png", *versions, "--out", versions[1])
    assert done.status == 1
    assert done.text.splitlines()[-1] == "next: take one side, or resolve the difference by hand"
    assert Path(versions[2]).read_bytes() == b"\0\xff\3"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("BASE OURS", 2),
        ("BASE OURS THEIRS more", 2),
        ("BASE OURS missing", 3),
        ("BASE / THEIRS", 3),
        ("BASE OURS THEIRS --marker-size 0", 2),
        ("BASE OURS THEIRS --check true --check-timeout 0", 2),
    ],
)
def test_on_an_error_out_is_not_touched(
    words: str, status: int, run: Call, versions: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"precious")
    real = dict(zip(("BASE", "OURS", "THEIRS"), versions, strict=True))
    done = run("merge-file", "--path", "a.py", *(real.get(word, word) for word in words.split()), "--out", str(out))
    assert done.status == status, done.err
    assert "hint: " in done.err
    assert out.read_bytes() == b"precious"


def test_a_path_that_is_empty_is_none(run: Call, versions: list[str]) -> None:
    done = run("merge-file", "--path", "", *versions)
    assert (done.status, "--path is empty" in done.err) == (2, True)


def test_the_path_is_needed(run: Call, versions: list[str]) -> None:
    assert run("merge-file", *versions).status == 2


def test_a_folder_that_is_not_there(run: Call, versions: list[str], tmp_path: Path) -> None:
    done = run("merge-file", "--path", "a.py", *versions, "--out", str(tmp_path / "no" / "out"), "--json")
    assert (done.status, done.json["code"]) == (3, "FILE_NOT_FOUND")


def test_a_file_that_may_not_be_replaced(run: Call, versions: list[str]) -> None:
    with immutable(Path(versions[1])):
        done = run("merge-file", "--path", "a.py", *versions, "--out", versions[1], "--json")
    assert (done.status, done.json["code"]) == (4, "PERMISSION_DENIED")
    assert Path(versions[1]).read_bytes() == OURS
    assert len(list(Path(versions[1]).parent.iterdir())) == 3


def test_mode_and_link_of_out_are_kept(run: Call, versions: list[str], tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o751)
    link.symlink_to(target)
    run("merge-file", "--path", "a.py", *versions, "--out", str(link))
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o751
    assert b"<<<<<<<" in target.read_bytes()
    assert not list(tmp_path.glob(".commonhold*"))


def test_a_pipe_is_written_to(versions: list[str], root: Path) -> None:
    done = process(
        "merge-file", "--path", "a.py", versions[0], versions[1], versions[0], "--out", "/dev/stdout", cwd=root
    )
    assert OURS in done.stdout


def test_names_are_relative_to_the_folder_that_is_given(run: Call, versions: list[str]) -> None:
    folder = str(Path(versions[0]).parent)
    assert run("-C", folder, "merge-file", "--path", "a.py", "base", "ours", "base", "--out", "new").status == 0
    assert Path(folder, "new").read_bytes() == OURS


@pytest.mark.usefixtures("_line_engine")
def test_a_candidate_that_passes_the_check_is_verified(run: Call, versions: list[str], root: Path) -> None:
    before = state(root)
    done = run("merge-file", "--path", "a.py", *versions, "--check", "python3 {file} && tail -1 a.py | grep -q 4")
    assert done.status == 0, done.err
    assert done.out == THEIRS + OURS
    assert done.err.startswith("VERIFIED: a.py passes python3 {file} && tail -1 a.py | grep -q 4 after 2 tried: theirs")
    assert state(root) == before


@pytest.mark.usefixtures("_line_engine")
def test_a_check_that_nothing_passes(run: Call, versions: list[str]) -> None:
    done = run("merge-file", "--path", "a.py", *versions, "--check", "echo no good; exit 3", "--json")
    assert done.status == 1
    assert done.json["check"] == {
        "command": "echo no good; exit 3",
        "passed": False,
        "tried": 2,
        "why": "2 candidates failed the check, and there are no others",
        "printed": "no good",
    }
    told = run("merge-file", "--path", "a.py", *versions, "--check", "echo no good; exit 3").err
    assert "\n  no good\n" in told


@pytest.mark.usefixtures("_line_engine")
def test_the_check_sees_what_is_committed_and_the_candidate_at_its_place(
    run: Call, versions: list[str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "sub" / "deep" / "b.py").write_bytes(BASE)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "deep")
    (root / "a.py").write_text("not committed", encoding="utf-8")
    (root / "untracked").touch()
    monkeypatch.chdir(root / "sub")
    check = "test -e a.py && ! grep -q committed a.py && test ! -e untracked && grep -q LIMIT sub/deep/b.py"
    check += f' && test "$COMMONHOLD_WORKTREE" = {root} && test ! -e .git'
    done = run("merge-file", "--path", "deep/b.py", *versions, "--check", check)
    assert done.status == 0, done.err
    assert "VERIFIED: sub/deep/b.py" in done.err


@pytest.mark.usefixtures("_line_engine")
@pytest.mark.parametrize("kind", ["plain", "unborn"])
def test_without_a_commit_the_check_sees_the_candidate_alone(
    kind: str, run: Call, versions: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / kind
    folder.mkdir()
    if kind == "unborn":
        git(folder, "init", "--quiet")
    monkeypatch.chdir(folder)
    check = 'test "$(find . -type f)" = ./not/there/yet.py'
    assert run("merge-file", "--path", "not/there/yet.py", *versions, "--check", check).status == 0
    assert not (folder / "not").exists()


@pytest.mark.parametrize("name", [b"\xff\xfe.py", b"new\nline.py", b"-rf.py", b'it\'s "odd".py'])
def test_names_of_any_bytes(name: bytes, versions: list[str], root: Path) -> None:
    done = process(b"merge-file", b"--path", name, *versions, "--json", cwd=root)
    assert done.returncode == 1
    assert json.loads(done.stdout)["path"] == name.decode("utf-8", "backslashreplace")
    assert process(b"merge-file", b"--path", name, *versions, cwd=root).returncode == 1


def test_it_loads_nothing_that_a_driver_does_not_need(versions: list[str], root: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from commonhold.cli.program import main; status = main(sys.argv[1:]); "
        "heavy = {'apsw', 'msgspec', 'asyncio', 'mcp', 'commonhold.kernel.ports'} & set(sys.modules); "
        "sys.exit(f'{status} {heavy}')"
    )
    words = ["merge-file", "--path", "a.py", "--quiet", *versions, "--out", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=root, check=False, capture_output=True)
    assert done.stderr.splitlines()[-1] == b"1 set()"


def test_killed_while_writing_leaves_the_old_or_the_new(versions: list[str], root: Path, tmp_path: Path) -> None:
    out = tmp_path / "folder" / "out"
    out.parent.mkdir()
    code = (
        "import os, signal, sys; from commonhold.machine import file_replacement; "
        "file_replacement.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL); "
        "from commonhold.cli.program import main; main(sys.argv[1:])"
    )
    out.write_bytes(b"precious")
    words = ["merge-file", "--path", "a.py", *versions, "--out", str(out)]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=root, check=False, capture_output=True)
    assert done.returncode == -9
    assert out.read_bytes() == b"precious"


def test_a_repository_of_another_user_is_not_trusted_with_the_check(
    tmp_path: Path, versions: list[str], capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid():
        pytest.skip("only root can give a repository away")
    other = make_repository(tmp_path / "other")
    os.chown(other / ".git", 65534, 65534)
    os.chown(other, 65534, 65534)
    monkeypatch.setenv("HOME", str(tmp_path))
    words = ("merge-file", "--path", str(other / "a.py"), *versions, "--check", "true", "--json")
    done = call(capsysbinary, monkeypatch, *words)
    assert done.status == 3, asked(tmp_path, "--version")
    assert done.json["code"] == "REPOSITORY_UNTRUSTED"
