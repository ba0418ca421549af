"""A git repository with a place for the workspaces of its sessions, of both kinds."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonhold.config import OverlayUse, Settings
from commonhold.kernel.managed_session import ManagedSession
from commonhold.session_host.overlays import Overlays
from commonhold.session_host.session_files import SessionFiles
from commonhold.session_host.worktrees import Worktrees
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import find_repository


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


class Project:
    """A repository with one commit, and the parts of a session host."""

    def __init__(self, folder: Path, overlays: OverlayUse = OverlayUse.NEVER, name: str = "project") -> None:
        self.root = folder / name
        self.root.mkdir(parents=True)
        git(self.root, "init", "--quiet", "--initial-branch", "main")
        git(self.root, "config", "user.name", "ann")
        git(self.root, "config", "user.email", "ann@example.com")
        self.write("a.py", "def f():\n    return 1\n")
        self.write(".gitignore", ".env\n*.log\n")
        self.commit("one")
        repository = find_repository(str(self.root))
        settings = Settings(workspaces=str(folder / "workspaces"), overlays=overlays)
        self.files = SessionFiles.of(repository, settings)
        self.worktrees = Worktrees(Git(str(self.root)), self.files)

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, encoding="utf-8")

    def commit(self, message: str) -> str:
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--message", message)
        return self.head

    @property
    def head(self) -> str:
        return git(self.root, "rev-parse", "HEAD")

    def ref(self, name: str) -> str:
        return git(self.root, "rev-parse", "--verify", name)

    def session(self, session: str = "s1", **rest: object) -> ManagedSession:
        return ManagedSession(session, "do it", "agent", self.head, str(self.root), "here", **rest)  # type: ignore[arg-type]


def mounted_below(folder: Path) -> list[str]:
    mounts = (line.split(" ")[1] for line in Path("/proc/self/mounts").read_text().splitlines())
    return [each for each in mounts if each.startswith(f"{folder}/")]


def unmount_below(folder: Path) -> None:
    """Unmount the overlays of workspaces that a test has left."""
    if Path("/proc/self/mounts").exists():
        for each in mounted_below(folder):
            subprocess.run(["umount", "--lazy", each], check=True)


def projects(folder: Path, use: OverlayUse) -> Iterator[Project]:
    """Yield a project whose workspaces are overlays, or are not; it skips the test where none can be mounted."""
    if use is OverlayUse.ALWAYS and not Overlays(folder, "").is_possible():
        pytest.skip("no overlay can be mounted here")
    yield Project(folder, use)
    unmount_below(folder)
