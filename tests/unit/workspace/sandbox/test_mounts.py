"""Files and folders that are read-only to one command, by whoever may mount, and by whoever has namespaces for it."""

import os
import stat
import sys
from pathlib import Path

import pytest
from tests.unit.workspace.sandbox.confined import Confined

from commonhold.workspace.sandbox.probing import offered

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not offered().is_enforced or bool(offered().program), reason="nothing can be mounted here"),
]
SOMEBODY = 12345
USERS = [pytest.param(os.geteuid(), id="this user")]
if os.geteuid() == 0:
    USERS.append(pytest.param(SOMEBODY, id="another user"))

ATTEMPTS = {
    "append": "echo x >> held",
    "truncate": ": > held",
    "remove": "rm -f held",
    "in place": "sed -i s/his/mine/ held",
    "rename": "mv held gone",
    "rename over": f"{sys.executable} -c \"import os; os.rename('free', 'held')\"",
    "copy over": "cp free held",
    "by a link": "ln -s held way && echo x >> way",
    "by a hard link": "ln held way && echo x >> way",
    "by a descriptor": "exec 3< held && echo x >> /proc/self/fd/3",
    "by the folder of a process": "echo x >> /proc/self/cwd/held",
    "deep down": "echo x >> deep/down/held",
    "its folder": "rm -rf deep",
    "in a folder": "echo x >> state/log",
    "a new file in a folder": "echo x > state/new",
    "a folder": "rm -rf state",
    "a folder away": "mv state gone",
    "inside a folder": "cd state && echo x >> log",
    "from a child of a child": "setsid bash -c \"bash -c 'echo x >> held'\"",
}
ALLOWED = {
    "beside": "sed -i s/mine/yours/ free && echo x > new && mv new newer && rm newer",
    "beside, deep down": "sed -i s/mine/yours/ deep/down/free && mkdir deep/new && mv deep/new deep/newer",
    "between folders": "mv deep/down/free deep/ && ln deep/free deep/down/free",
    "above": "echo x > ../new && mkdir ../folder",
    "what is kept": "echo x > state/own/index && mv state/own/index state/own/other",
    "reading": "grep -q his held deep/down/held && cp held copy",
    "locking": "exec 3< held && flock -n 3",
    "permissions": "chmod +x free && touch -d yesterday free",
    "a pipe": "mkfifo pipe",
}


@pytest.fixture(params=USERS)
def user(request: pytest.FixtureRequest) -> int:
    found: int = request.param
    return found


@pytest.fixture
def tree(tmp_path: Path, user: int) -> Path:
    for above in (tmp_path, *tmp_path.parents):
        if user != os.geteuid() and above.stat().st_uid == os.geteuid() and above != Path("/"):
            above.chmod(above.stat().st_mode | stat.S_IXOTH | stat.S_IROTH)
    root = tmp_path / "a" / "work"
    (root / "state" / "own").mkdir(parents=True)
    (root / "deep" / "down").mkdir(parents=True)
    texts = {"state/log": "log", "held": "his", "deep/down/held": "his", "free": "mine", "deep/down/free": "mine"}
    for path, text in texts.items():
        (root / path).write_text(f"{text}\n")
    if user != os.geteuid():
        for place in (root.parent, *root.parent.rglob("*")):
            os.chown(place, user, user)
    return root


@pytest.fixture
def confined(tree: Path, user: int) -> Confined:
    made = Confined(tree, ["state", "held", "deep/down/held", "not-there", "way-out"], ["state/own"], user)
    if made.shell("true").returncode:
        pytest.skip("no namespace of users can be had here")
    return made


@pytest.mark.parametrize("how", ATTEMPTS)
def test_what_is_held_stays_as_it_is(confined: Confined, how: str) -> None:
    assert confined.shell(ATTEMPTS[how]).returncode != 0
    for path, text in {"held": "his", "deep/down/held": "his", "state/log": "log"}.items():
        assert (confined.root / path).read_text() == f"{text}\n"
    assert not (confined.root / "state/new").exists()


@pytest.mark.parametrize("how", ALLOWED)
def test_all_else_works_as_ever(confined: Confined, how: str) -> None:
    done = confined.shell(ALLOWED[how])
    assert (done.returncode, done.stderr) == (0, "")


def test_a_link_is_left_alone(confined: Confined) -> None:
    (confined.root / "way-out").symlink_to("free")
    assert confined.shell("echo x >> free; rm way-out").returncode == 0


def test_who_it_is_and_what_it_may_are_as_before(confined: Confined, user: int) -> None:
    told = confined.shell("id -u; id -g; grep NoNewPrivs /proc/self/status").stdout.split()
    assert told == [str(user), str(user), "NoNewPrivs:", "0"] or user == os.geteuid() == int(told[0])


def mounts(root: Path) -> list[str]:
    """What is mounted at the root of all files, with how that spreads, and in a folder: elsewhere others mount."""
    rows = Path("/proc/self/mountinfo").read_text().splitlines()
    return [row for row in rows if (place := row.split()[4]) == "/" or place.startswith(f"{root}/")]


def test_whoever_runs_it_sees_nothing_of_that(confined: Confined) -> None:
    before = mounts(confined.root)
    assert confined.shell("true").returncode == 0
    assert mounts(confined.root) == before
    (confined.root / "held").write_text("other\n")
