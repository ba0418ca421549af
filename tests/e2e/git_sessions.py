"""Sessions that share a checkout: each edits as an agent does, and calls git as its shell would."""

import fcntl
import os
import subprocess
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.templates import copied

from commonhold.agents.git.calls import GitCalls
from commonhold.api.service import Service
from commonhold.bootstrap import open_repository
from commonhold.code.regions.region import hash_bytes

IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ann Example"), ("EMAIL", "ann@example.org"))
}


@dataclass(frozen=True)
class Ran:
    """What came of a call: its status, what git said, and what we said (a refusal, or what was left out)."""

    status: int
    out: str
    err: str
    said: str = ""
    is_refused: bool = False


class Checkout:
    """A working tree that several sessions share."""

    def __init__(self, root: Path) -> None:
        self.root = root
        common = self.person("rev-parse", "--path-format=absolute", "--git-common-dir").out.strip()
        state = Path(common) / "commonhold"
        state.mkdir(mode=0o700, exist_ok=True)  # whoever serves has it before the first call
        self.calls = GitCalls(str(state), self.log_of, lambda _root, _holder: None, self.is_ignored)

    @staticmethod
    def is_ignored(_root: str, path: str) -> bool:
        return path.endswith(".lock")

    @staticmethod
    def log_of(root: str, holder: str) -> AbstractContextManager[Service]:
        return open_repository(root, agent=holder)

    def edit(self, holder: str, path: str, content: str | bytes | None, intent: str = "") -> None:
        """Change a file as `holder`, in the working tree and in the log."""
        self.write(holder, {path: content}, intent)

    def write(self, holder: str, files: dict[str, Any], intent: str = "") -> None:
        with open_repository(str(self.root), agent=holder) as service:
            before = {}
            for path, content in files.items():
                place = self.root / path
                was = place.read_bytes() if place.is_file() else None
                service.store_contents([was] if was is not None else [])
                before[path] = None if was is None else hash_bytes(was)
                self.put(path, content)
            service.record_external_writes(before, intent=intent)

    def put(self, path: str, content: str | bytes | None) -> None:
        """Change a file as somebody of whom nobody knows."""
        place = self.root / path
        if content is None:
            place.unlink()
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def git(self, holder: str, *argv: str, folder: str = "", ok: bool | None = None) -> Ran:
        """Call git as the shell of `holder`; `ok` says how that must end."""
        ran = self._git(holder, argv, str(self.root / folder))
        if ok is not None:
            assert (ran.status == 0) is ok, ran
        return ran

    def _git(self, holder: str, argv: tuple[str, ...], cwd: str) -> Ran:
        asked = {"holder": holder, "cwd": cwd, "argv": list(argv)}
        with ExitStack() as locks:
            answer = self.calls.begin(asked)
            if "turns" in answer:
                for path in answer["turns"]:
                    fcntl.flock(locks.enter_context(Path(path).open(encoding="utf-8")), fcntl.LOCK_EX)
                answer = self.calls.begin({**asked, "has_turn": 1})
            if "fetch" in answer:
                run(cwd, answer["fetch"], {})
                answer = self.calls.begin({**asked, "has_turn": 1, "has_fetched": 1})
            if refusal := answer.get("refusal"):
                return Ran(1, "", "", refusal, is_refused=True)
            done = run(cwd, answer.get("argv", argv), answer["env"])
            told = dict(
                self.calls.end({"after": answer["after"], "status": done.returncode}) if "after" in answer else {}
            )
        assert not told.get("again")
        return Ran(
            done.returncode, done.stdout, done.stderr, "\n".join(filter(None, (answer.get("say"), told.get("say"))))
        )

    def refused(self, holder: str, *argv: str, folder: str = "") -> str:
        """Call git, which must be refused; what is said."""
        ran = self.git(holder, *argv, folder=folder)
        assert ran.is_refused, ran
        return ran.said

    def person(self, *argv: str) -> Ran:
        """Call git as a person does, in a terminal of their own."""
        done = run(str(self.root), argv, {})
        return Ran(done.returncode, done.stdout, done.stderr)

    def committed(self, path: str, commit: str = "HEAD") -> str | None:
        """A file as a commit has it; None where it has not."""
        ran = self.person("show", f"{commit}:{path}")
        return ran.out if ran.status == 0 else None

    def changed_in(self, commit: str = "HEAD") -> set[str]:
        """The paths that a commit changed."""
        words = ("diff-tree", "--root", "-r", "--no-commit-id", "--name-only", "--no-renames", commit)
        return set(self.person(*words).out.split())

    def staged(self) -> str:
        """What the shared index has that HEAD has not."""
        return self.person("diff", "--cached", "--name-status").out


def run(cwd: str, argv: Any, env: dict[str, str | None]) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | IDENTITY
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "HOME": cwd, "LC_ALL": "C"}
    environment |= {name: value for name, value in env.items() if value is not None}
    return subprocess.run(
        ["git", *argv], cwd=cwd, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def make_checkout(root: Path, files: dict[str, str | bytes], *options: str) -> Checkout:
    """A repository with one commit of these files; without files it has no commit yet. `options` are of its making."""

    def make(made: Path) -> None:
        run(str(made), ("init", "--quiet", "--initial-branch=main", *options), {})
        for path, content in files.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_bytes(content.encode() if isinstance(content, str) else content)
        if files:
            run(str(made), ("add", "--all"), {})
            run(str(made), ("commit", "--quiet", "-m", "begin"), {})

    return Checkout(copied(root, (*files.items(), *options), make))
