"""What the shells of Gemini CLI read first: which commands it gives to the launcher, and when it can be named."""

import os
import subprocess
from pathlib import Path

import pytest

from commonhold.agents.gemini import bare
from commonhold.agents.gemini_shell import ENV_FILE, FIRST_READ, VARIABLE, first_read, line, obstacle
from commonhold.agents.marked_block import HASH, replaced

# As Gemini 0.61.0 makes it of a command of its model's, and of one that its user types after `!`.
OF_MODEL = """\
shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=/dev/null
(
  trap 'jobs -p > "$_bgpids_file"' EXIT
{}
)
__code=$?
exit $__code"""
OF_USER = """\
shopt -u promptvars nullglob extglob nocaseglob dotglob; {{
{}
}}
__code=$?; exit $__code"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a program in place of the launcher, and the file that calls it."""
    folder = tmp_path / "it's $HOME"
    folder.mkdir()
    (folder / "launch.py").touch()
    (folder / "python").write_text('#!/bin/sh\nprintf "%s\\0" "$@" >"$0.told"\nenv >"$0.env"\n', encoding="utf-8")
    (folder / "python").chmod(0o755)
    words = (str(folder / "python"), str(folder / "launch.py"), "/a socket", "block", "/its root")
    (tmp_path / "first").write_text(first_read(words), encoding="utf-8")
    return folder


def ran(place: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The end of a bash that Gemini starts."""
    variables = {"PATH": os.environ["PATH"], VARIABLE: str(place.parent / "first"), "GEMINI_CLI": "1"}
    return subprocess.run(["bash", *words], env=variables | more, capture_output=True, text=True, check=False)


def test_the_launcher_gets_the_script_of_a_command_as_it_is(place: Path) -> None:
    script = OF_MODEL.format("cat <<'X'\nit's $HOME\nX")
    assert ran(place, "-c", script).returncode == 0
    *told, shell, given = (place / "python.told").read_text(encoding="utf-8").split("\0")[:-1]
    assert told == ["-I", "-S", str(place / "launch.py"), "--gemini", "/a socket", "block", "/its root"]
    assert (Path(shell).name, given) == ("bash", script)
    assert VARIABLE not in (place / "python.env").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("script", "gemini"),
    [
        (OF_USER.format("echo ran"), "1"),
        ("echo ran", "1"),
        (f"echo ran # {OF_MODEL.splitlines()[0]}", "1"),
        (OF_MODEL.format("echo ran"), ""),
    ],
)
def test_what_is_no_command_of_its_models_passes(script: str, gemini: str, place: Path) -> None:
    assert ran(place, "-c", script, GEMINI_CLI=gemini).stdout == "ran\n"
    assert not (place / "python.told").exists()


@pytest.mark.parametrize("gone", ["python", "launch.py"])
def test_without_the_launcher_nothing_runs(gone: str, place: Path) -> None:
    (place / gone).unlink()
    done = ran(place, "-c", OF_MODEL.format(f"touch '{place.parent}/ran'"))
    assert (done.returncode, "Next: commonhold install" in done.stderr) == (126, True)
    assert not (place.parent / "ran").exists()


@pytest.mark.parametrize("where", [".env", "../.gemini/.env", "../.env", "../../home/.gemini/.env", "../../home/.env"])
def test_no_file_is_made_that_would_hide_the_users_own(where: str, tmp_path: Path) -> None:
    root, home = tmp_path / "deep/work", tmp_path / "home"
    root.mkdir(parents=True)
    home.mkdir()
    assert obstacle(str(root), str(home), None, "") == ""
    hidden = Path(os.path.normpath(root / where))
    hidden.parent.mkdir(exist_ok=True)
    hidden.touch()
    ours = replaced(None, line(f"{root}/{FIRST_READ}"), HASH)
    for text in (None, ours):
        assert str(hidden) in obstacle(str(root), str(home), text, "")
    assert obstacle(str(root), str(home), replaced("A=b\n", "x", HASH), "") == ""


@pytest.mark.parametrize("mine", ["BASH_ENV=/mine\n", "A=b\n export BASH_ENV = '/mine'", "BASH_ENV: x"])
def test_a_variable_of_the_users_stays(mine: str, tmp_path: Path) -> None:
    assert f"{ENV_FILE} has a BASH_ENV" in obstacle(str(tmp_path), str(tmp_path), mine, "")
    assert obstacle(str(tmp_path), str(tmp_path), f"# {mine.splitlines()[0]}\nMY_BASH_ENV=x\n", "") == ""


def test_so_does_what_gemini_has_from_elsewhere(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert "your environment" in obstacle(root, root, None, "/mine")
    assert obstacle(root, root, None, f"{root}/{FIRST_READ}") == ""
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini/settings.json").write_text('{"security": {"toolSandboxing": true}} // mine', encoding="utf-8")
    assert "sandbox of its own" in obstacle(root, root, None, "")


@pytest.mark.parametrize("sign", list('$`\\"\n'))
def test_a_path_that_would_be_read_as_something_else_is_not_named(sign: str) -> None:
    assert "the path" in obstacle(f"/a{sign}b", "/nonexistent", None, "")


@pytest.mark.parametrize(
    ("command", "inner"),
    [
        ("bash -c 'echo two'", "echo two"),
        (' /bin/sh  -c "echo \\"two\\""', 'echo "two"'),
        ('bash -c "a" && b "c"', 'a" && b "c'),
        ("bash -c make", "make"),
        ('bash -c "', '"'),
        ('bash -c "it\'s $X"', "it's $X"),
        ("echo bash -c 'x'", "echo bash -c 'x'"),
        ("bash -lc 'x'", "bash -lc 'x'"),
    ],
)
def test_a_command_is_known_as_gemini_runs_it(command: str, inner: str) -> None:
    """Its own answers, taken from its program."""
    assert bare(command) == inner
