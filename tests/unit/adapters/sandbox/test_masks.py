"""What is taken out of a writable folder again, where whoever runs this may mount."""

import sys
from pathlib import Path

import pytest
from tests.unit.adapters.sandbox.confined import Confined

from commonhold.adapters.sandbox.probing import offered

pytestmark = pytest.mark.skipif(not offered().can_mask, reason="only who may mount can have it")

ATTEMPTS = (
    "echo x >> state/log",
    "rm -rf state",
    "mv state gone",
    "umount state",
    "mount -o remount,bind,rw state; echo x >> state/log",
    "cd state && echo x >> log",
    "echo x >> held",
    "rm -f held",
    "sed -i s/his/mine/ held",
    f"{sys.executable} -c \"import os; os.rename('free', 'held')\"",
    "mv deep gone && mkdir -p deep/down && echo x > deep/down/held",
    "mv deep/down deep/gone && mkdir deep/down && echo x > deep/down/held",
    "rm -rf deep",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "state" / "own").mkdir(parents=True)
    (root / "state" / "log").write_text("log\n")
    (root / "deep" / "down").mkdir(parents=True)
    for path in ("held", "deep/down/held"):
        (root / path).write_text("his\n")
    (root / "free").write_text("mine\n")
    return root


@pytest.mark.parametrize("line", ATTEMPTS)
def test_what_is_masked_stays_as_it_is(tree: Path, line: str) -> None:
    assert Confined(tree, [""], ["state", "held", "deep/down/held", "not-there"]).shell(line).returncode != 0
    assert (tree / "state/log").read_text() == "log\n"
    for path in ("held", "deep/down/held"):
        assert (tree / path).read_text() == "his\n"


def test_what_lies_around_and_what_is_kept_inside_can_be_written(tree: Path) -> None:
    confined = Confined(tree, ["", "state/own"], ["state", "held", "deep/down/held"])
    beside = "sed -i s/mine/yours/ deep/down/free; mkdir deep/new; mv deep/new deep/newer; mv deep/down/free deep/"
    (tree / "deep/down/free").write_text("mine\n")
    done = confined.shell(
        f"sed -i s/mine/yours/ free && echo x > new && echo x > state/own/index && mv new newer && {beside}"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tree / "state/own/index").read_text() == "x\n"


def test_a_command_that_begins_inside_what_is_masked_is_kept_too(tree: Path) -> None:
    inside = Confined(tree, [""], ["state"])
    done = inside.run(
        sys.executable, "-c", "import os; os.chdir('state'); os.execvp('bash', ['bash', '-c', 'echo x >> log'])"
    )
    assert done.returncode != 0
    assert (tree / "state/log").read_text() == "log\n"
