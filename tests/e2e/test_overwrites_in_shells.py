"""A shell command that replaces what another session has not committed: both are told, with the way back."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.daemon_process import serving
from tests.e2e.git_sessions import IDENTITY, make_checkout
from tests.e2e.test_git_in_shells import Shells

ANN, BOB = "claude:ann", "codex:bob"
CODE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
TWO = CODE.replace("return 2", "return 222")
SCRIPT = "const one = () => 'a'\n\nconst two = () => 'b'\n"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shells]:
    root: Path = tmp_path_factory.mktemp("overwrites") / "work"
    make_checkout(root, {"app.py": CODE, "app.js": SCRIPT, "notes.txt": "a\n\nb\n"})
    with serving(root) as daemon:
        yield Shells(daemon)


@pytest.fixture
def shells(served: Shells) -> Iterator[Shells]:
    """Bob has changed `two`, and made a file; nothing is committed."""
    (served.root / "two.py").write_text(TWO, encoding="utf-8")
    assert served.run(BOB, "mv two.py app.py && echo 'x = 1' > bob.py && sed -i s/b/bob/ notes.txt")[0] == 0
    yield served
    for holder in (ANN, BOB):
        served.run(holder, "true")
    for words in (("checkout", "-q", "."), ("clean", "-fdq")):
        subprocess.run(["git", *words], cwd=served.root, check=True)
    # What the person took back is seen before the next begins.
    served.run(ANN, "true")


def taken_back(shells: Shells, said: str) -> None:
    """Paste the next step that was told."""
    (line,) = [each for each in said.splitlines() if "Next, to restore it: " in each]
    step = line.partition(": commonhold show")[2]
    environment = (
        os.environ
        | IDENTITY
        | {"COMMONHOLD_DAEMON": "on", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    )
    done = subprocess.run(
        ["sh", "-c", f"commonhold show{step}"],
        cwd=shells.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (step, done.stdout, done.stderr)


def test_both_are_told_and_either_can_bring_it_back(shells: Shells) -> None:
    status, _, err = shells.run(ANN, "sed -i 's/return 222/return 0/' app.py")
    assert status == 0
    assert f"this replaced uncommitted changes of {BOB} in `two` in app.py. That session gets a notice" in err
    theirs = shells.run(BOB, "true")[2]
    assert "what you changed in `two` in app.py and have not committed was replaced by" in theirs
    assert f'{ANN} ("$ ' in theirs
    assert "sed -i 's/return 222/return 0/' app.py" in theirs
    assert "replaced" not in shells.run(BOB, "true")[2]
    taken_back(shells, theirs)
    assert (shells.root / "app.py").read_text(encoding="utf-8") == TWO
    err = shells.run(ANN, "sed -i 's/return 222/return 0/' app.py")[2]
    taken_back(shells, err)
    assert (shells.root / "app.py").read_text(encoding="utf-8") == TWO


@pytest.mark.parametrize(
    ("line", "path", "what"),
    [
        ("git show HEAD:app.py > app.py", "app.py", "`two` in app.py"),
        ("rm bob.py", "bob.py", "bob.py"),
        ("sed -i '/^def two/,$d' app.py", "app.py", "`two` in app.py"),
        ("printf 'a\\n\\nc\\n' > notes.txt", "notes.txt", "notes.txt"),
    ],
)
def test_whatever_the_command_the_text_can_be_had_back(shells: Shells, line: str, path: str, what: str) -> None:
    before = (shells.root / path).read_bytes()
    status, _, err = shells.run(ANN, line)
    assert status == 0, err
    assert f"this replaced uncommitted changes of {BOB} in " in err
    assert what in err
    assert (shells.root / path).read_bytes() != before if path != "bob.py" else not (shells.root / path).exists()
    taken_back(shells, shells.run(BOB, "true")[2])
    assert set(before.split()) <= set((shells.root / path).read_bytes().split())


def test_who_holds_it_as_well_is_told_once_and_brings_that_region_back_alone(shells: Shells) -> None:
    (shells.root / "commonhold.toml").write_text('shell = "watch"\n', encoding="utf-8")
    with shells.session(BOB) as session:
        lease = session.acquire("app.py#two", task="mine").lease
        err = shells.run(ANN, "f=app; sed -i 's/return 222/return 0/' $f.py")[2]
        assert "gets a notice that you overwrote it" in err
        assert "replaced" not in err
        (told,) = [each.text for each in session.news() if "overwritten" in each.text]
        (shells.root / "app.py").write_text(
            (shells.root / "app.py").read_text(encoding="utf-8").replace("return 1", "return 11"), encoding="utf-8"
        )
        taken_back(shells, f"Next, to restore it: {told.split('`')[1]}")
        assert lease is not None
        session.release(lease.id)
    assert (shells.root / "app.py").read_text(encoding="utf-8") == TWO.replace("return 1", "return 11")


@pytest.mark.parametrize(
    "line",
    [
        "sed -i 's/return 1/return 11/' app.py",
        "sed -i 's/return 222/return   222/; s/two()/two( )/' app.py",
        "printf '\\n\\ndef three():\\n    return 3\\n' >> app.py",
        "echo b > ann.txt && rm ann.txt",
    ],
)
def test_nothing_is_said_where_what_the_other_did_is_there_still(shells: Shells, line: str) -> None:
    assert "replaced" not in shells.run(ANN, line)[2]
    assert "replaced" not in shells.run(BOB, "true")[2]


def test_what_is_committed_may_be_replaced_as_ever(shells: Shells) -> None:
    shells.run(BOB, "git commit -qam two")
    assert "replaced" not in shells.run(ANN, "sed -i 's/return 222/return 0/' app.py")[2]
    subprocess.run(["git", "reset", "-q", "--hard", "HEAD^"], cwd=shells.root, check=True)
