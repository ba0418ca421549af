"""Commits changes of five files in child processes that kill themselves at a chosen point. Run by `test_crash.py`."""

import importlib
import os
import signal
import sys

from commonhold import Changeset, Edit, Op
from commonhold.api.service import Service
from commonhold.bootstrap import open_repository
from commonhold.code.regions.region import hash_bytes

# What a commit loads on the way is loaded once for all children: it writes nothing, and would be two points in three.
for name in ("commits.write_use_cases", "commits.attendance", "index", "typecheck"):
    importlib.import_module(f"commonhold.{name}")

READ = "A = 'old'\nB = 0\nC = 'old'\n"
"""What the change of pkg/b.py is made for; others have changed it since."""
WATCHED = ("open", "os.rename", "os.remove", "os.mkdir", "os.chmod", "os.chown", "os.rmdir")


def changeset(hold: Service) -> Changeset:
    """Edits that touch every way in which a file can change, one of them late."""
    function, gone, moved = hold.read("a.py#f", "c.txt", "d.txt")
    return Changeset(
        intent="change four files at once",
        request_id="crash",
        edits=(
            Edit(Op.REPLACE, function.key, function.hash, "def f():\n    return 'new'\n"),
            Edit(Op.REPLACE, "pkg/b.py", hash_bytes(READ.encode()), READ.replace("C = 'old'", "C = 'new'")),
            Edit(Op.CREATE_FILE, "made/deep/e.py", text="E = 'new'\n"),
            Edit(Op.DELETE_FILE, gone.key, gone.hash),
            Edit(Op.RENAME_FILE, moved.key, moved.hash, to="pkg/moved.txt"),
            Edit(Op.CHMOD, "a.py", mode="755"),
        ),
    )


class Killer:
    """Counts what happens, and ends the process before the thing with the chosen number."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.is_armed = False

    def count(self) -> None:
        """One more thing is about to happen."""
        if self.is_armed:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def hear(self, event: str, _arguments: object) -> None:
        """An audit hook."""
        if event in WATCHED:
            self.count()


def commit_in(root: str, kill_at: int) -> None:
    """Commit in this process, and say so if it comes to that."""
    os.chdir(root)
    killer = Killer(kill_at)
    sys.addaudithook(killer.hear)
    with open_repository(".", agent="crasher", at_step=lambda _name: killer.count()) as hold:
        wanted = changeset(hold)
        killer.is_armed = True
        answer = hold.commit(wanted)
        killer.is_armed = False
    os.write(sys.stdout.fileno(), f"{answer.outcome}\n".encode())


def main() -> None:
    """For each line `KILL_AT ROOT` of standard input: commit in a fresh child, then say how the child ended."""
    for line in sys.stdin:
        kill_at, root = line.rstrip("\n").split(" ", 1)
        child = os.fork()
        if child == 0:
            commit_in(root, int(kill_at))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        os.write(sys.stdout.fileno(), f"ended {os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    main()
