"""Landlock, with real processes that try to get around it."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.adapters.sandbox.confined import Confined

from commonhold.adapters.sandbox import landlock
from commonhold.adapters.sandbox.probing import offered

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")

OPEN = "import os, sys; "
ATTEMPTS = {
    "append": "echo x >> other/kept",
    "truncate": ": > other/kept",
    "truncate by name": "truncate -s 0 other/kept",
    "remove": "rm -f other/kept",
    "rename": "mv other/kept other/gone",
    "rename into what is free": "mv -f other/kept free/",
    "rename over": "mv -f free/own other/kept",
    "copy over": "cp free/own other/kept",
    "hard link, then write": "ln other/kept free/link && echo x >> free/link",
    "symbolic link, then write": "ln -s ../other/kept free/way && echo x >> free/way",
    "by the folder of a link": "ln -s ../other free/there && echo x >> free/there/kept",
    "by the root of a process": "echo x >> /proc/self/root$PWD/other/kept",
    "by the folder of a process": "cd other && echo x >> /proc/self/cwd/kept",
    "by a descriptor": "exec 3< other/kept && echo x >> /proc/self/fd/3",
    "from above": "echo x >> free/../other/kept",
    "in place": "sed -i s/was/is/ other/kept",
    "a new file": "echo x > other/new",
    "a new folder": "mkdir other/new",
    "a new file at the root": "echo x > new",
    "remove a folder": "rm -rf other",
    "rename the folder": "mv other free/other",
    "rename the root": 'mv "$PWD" "$PWD.gone"',
    "from a child of a child": "bash -c \"bash -c 'echo x >> other/kept'\"",
    "as another leader": "setsid bash -c 'echo x >> other/kept'",
    "by Python": f"{sys.executable} -c \"open('other/kept', 'a').write('x')\"",
    "relative to an open folder": (
        f'{sys.executable} -c "{OPEN}'
        "d = os.open('other', os.O_RDONLY); os.open('kept', os.O_WRONLY | os.O_TRUNC, dir_fd=d)\""
    ),
    "by mounting over": "mount --bind free other && echo x >> other/kept",
    "in a namespace of its own": "unshare -rm bash -c 'mount --bind free other; rm -f other/kept; : > other/kept'",
    "a named pipe": "mkfifo other/new",
    "a patch": "printf -- '--- a/other/kept\\n+++ b/other/kept\\n@@ -1 +1 @@\\n-was\\n+is\\n' | git apply",
}
ALLOWED = {
    "append": "echo x >> free/own",
    "in place": "sed -i s/mine/yours/ free/own && grep -q yours free/own",
    "a new file deep down": "mkdir -p free/a/b && echo x > free/a/b/c && rm -r free/a",
    "rename inside": "mv free/own free/deep/renamed && mv free/deep/renamed free/own",
    "hard link inside": "ln free/own free/deep/link",
    "a file alone": "echo x >> alone && : > alone",
    "nowhere": "echo x > /dev/null",
    "shared memory": 'name=$(mktemp -p /dev/shm) && rm "$name"',
    "a pipe": "echo x | cat > /dev/null",
    "reading": "grep -q was other/kept",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "a" / "work"
    (root / "free" / "deep").mkdir(parents=True)
    (root / "other").mkdir()
    for path, text in {"free/own": "mine\n", "other/kept": "was\n", "alone": "x\n"}.items():
        (root / path).write_text(text)
    return root


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() and not path.is_symlink() else "-"
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("how", ATTEMPTS)
def test_what_is_not_granted_cannot_be_written(tree: Path, how: str) -> None:
    before = contents(tree / "other")
    done = Confined(tree, ["free", "alone"]).shell(ATTEMPTS[how])
    assert contents(tree / "other") == before
    assert sorted(path.name for path in tree.iterdir()) == ["alone", "free", "other"]
    assert done.returncode != 0


@pytest.mark.parametrize("how", sorted(how for how in ATTEMPTS if "mount" not in ATTEMPTS[how]))
def test_each_attempt_gets_there_where_nothing_is_in_its_way(tree: Path, how: str) -> None:
    before = contents(tree)
    subprocess.run(("bash", "-c", ATTEMPTS[how]), cwd=tree, capture_output=True, check=False)
    assert not tree.exists() or contents(tree) != before


def test_what_is_granted_can_be_written(tree: Path) -> None:
    confined = Confined(tree, ["free", "alone"])
    failed = {how: done.stderr for how, line in ALLOWED.items() if (done := confined.shell(line)).returncode}
    assert failed == {}


def test_a_file_that_is_granted_alone_can_be_written_but_not_replaced(tree: Path) -> None:
    assert Confined(tree, ["alone"]).shell("sed -i s/x/y/ alone").returncode != 0
    assert (tree / "alone").read_text() == "x\n"


def test_beside_the_way_to_the_root_all_can_be_written_and_nothing_new_made_on_it(tree: Path) -> None:
    (tree.parent / "sibling").mkdir()
    (tree.parent / "file").write_text("")
    confined = Confined(tree)
    assert confined.shell("echo x > ../sibling/new && echo x > ../file").returncode == 0
    assert confined.shell("echo x > ../new").returncode != 0


def test_a_link_beside_the_way_grants_nothing_of_where_it_leads(tree: Path) -> None:
    (tree.parent / "link").symlink_to(tree / "other")
    assert Confined(tree).shell("echo x >> ../link/kept").returncode != 0
    assert (tree / "other/kept").read_text() == "was\n"


def test_a_link_in_place_of_what_is_granted_grants_nothing(tree: Path) -> None:
    (tree / "way").symlink_to("other")
    assert Confined(tree, ["way", "gone"]).shell("echo x >> way/kept").returncode != 0


def test_working_trees_inside_each_other_are_all_kept(tree: Path) -> None:
    found = landlock.beside([str(tree), str(tree / "other")])
    assert str(tree / "free") not in found
    assert not any(path.startswith(f"{tree}/") for path in found)


def test_a_socket_that_is_open_goes_on(tree: Path) -> None:
    one, other = socket.socketpair()
    with one, other:
        os.set_inheritable(other.fileno(), True)  # noqa: FBT003 - positional only
        line = f"{sys.executable} -c \"import os; os.write(1, b'it goes on')\""
        assert Confined(tree).shell(line).stdout == "it goes on"


def test_the_machine_offers_what_it_is_said_to(tree: Path) -> None:
    found = offered()
    assert found.is_enforced
    assert found.can_mask == (Confined(tree, ["free"], ["other"]).shell("true").returncode == 0)
