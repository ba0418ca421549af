"""Two copies of the project, one served by a daemon and one not, and what a command makes of each."""

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import UUID

from tests.e2e.daemon_process import Serving
from tests.habits import project

from commonhold.agents.git.judging import COMMITS, STASHES
from commonhold.agents.git.session_indexes import FOLDER
from commonhold.client import hook_program
from commonhold.client.launcher import launching
from commonhold.workspace.daemon_files import http_address

PROGRAMS: Final = os.pathsep.join((str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"))
_PATIENCE_SECONDS: Final = 120
_NEVER_IDLE_SECONDS: Final = 86_400
"""A daemon waits so long for the next row: one that began in its place would not be started as the commands are."""
# What holds times or places, and what is kept for nobody but its program: that it is there is enough.
_NAMED_ONLY: Final = re.compile(r"__pycache__/|\.coverage$|/\.venv/|coverage\.xml$")
_SIZED_ONLY: Final = re.compile(r"\.(?:tar|gz|zip|tgz)$")
_CLOSED: Final = frozenset({".mypy_cache", ".ruff_cache", ".pytest_cache", ".git"})
_OURS: Final = frozenset({".git/commonhold", "work/.claude"})
# As Claude Code makes it of a command; what it sources sets PATH again.
_OF_CLAUDE: Final = (
    "source {home}/snapshot.sh 2>/dev/null || true && {{ \\builtin shopt -u extglob || \\builtin setopt "
    "NO_EXTENDED_GLOB; }} >/dev/null 2>&1 || true && eval {line} < /dev/null && pwd -P >| {home}/cwd"
)
# A user of a namespace is one as any other is, also below a home folder that is shut to others.
_AS_USER: Final = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
_AS_ROOT: Final = ("unshare", "--user", "--map-root-user")
_SHUT: Final = 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all -- "$@"'

MODES: Final[Mapping[str, tuple[str, ...]]] = {
    "user": _AS_USER,
    "root": () if os.geteuid() == 0 else _AS_ROOT,
    "user without namespaces": (*_AS_USER, "--keep-caps", "sh", "-c", _SHUT, "sh"),
}
"""What a command is started with, to be run by a user, by root, and by a user who may make no namespaces."""

Tree = Mapping[str, tuple[object, ...]]
AnyServed = TypeVar("AnyServed", bound="Served")


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a command: its exit status, what it said, and all files of the site, with git's branches.

    `touched` are the files of the project that were written, be it as they were, or taken away.
    """

    status: int
    output: str
    complaint: str
    files: Tree
    touched: frozenset[str]

    @property
    def said_by_us(self) -> str:
        """What we said, without what the command did."""
        return "".join(line for line in self.complaint.splitlines(keepends=True) if line.startswith("commonhold: "))


@dataclass
class Life:
    """One copy of the project, and what commands in it are started with."""

    site: Path
    start: tuple[str, ...]
    pristine: Path
    environment: dict[str, str] = field(init=False)
    before: Tree = field(init=False)

    def __post_init__(self) -> None:
        """Make the copy."""
        shutil.copytree(self.pristine, self.site, symlinks=True)
        self.environment = project.environment(self.site, PROGRAMS)
        self.before = self.look()

    @property
    def root(self) -> Path:
        """Where commands run."""
        return self.site / "work"

    def words(self, line: str) -> list[str]:
        """What is started for a line."""
        return ["bash", "-c", line]

    def reset(self) -> list[str]:
        """Let all be as it was in the beginning; the files that were not."""
        changed = [str(each.relative_to(self.site)) for each in _copied(self.pristine, self.site)]
        # Git takes what its index does not know by its stamps for changed, and writes it again.
        words = (*self.start, "git", "update-index", "-q", "--refresh")
        subprocess.run(words, cwd=self.root, env=self.environment, check=True)
        return changed

    def do(self, line: str) -> Done:
        """Run a line in the project as it was in the beginning."""
        self.reset()
        stamps = self._stamps()
        done = subprocess.run(
            [*self.start, *self.words(line)],
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
        touched = frozenset(name for name, _ in stamps.items() - self._stamps().items())
        return Done(done.returncode, self._plain(done.stdout), self._plain(done.stderr), self.look(), touched)

    def _stamps(self) -> dict[str, tuple[int, int]]:
        found = ((name, self.root / name) for name in project.FILES)
        return {name: (path.stat().st_ino, path.stat().st_ctime_ns) for name, path in found if path.is_file()}

    def _plain(self, text: bytes) -> str:
        return text.decode("utf-8", "replace").replace(str(self.site), "SITE")

    def look(self) -> Tree:
        """All that is in the site but the home, and git's branches."""
        names = ((str(path.relative_to(self.site)), path) for path in _walk(self.site) if path != self.site / "home")
        words = ("git", "for-each-ref", "--format=%(objectname)%09%(refname)")
        done = subprocess.run(words, cwd=self.root, env=self.environment, capture_output=True, check=False)
        head = (self.root / ".git/HEAD").read_bytes()
        refs = {f"git {name}": (at,) for at, name in (line.split("\t") for line in done.stdout.decode().splitlines())}
        return {**{name: self._entry(name, path) for name, path in names}, **refs, "git HEAD": (head,)}

    def _entry(self, name: str, path: Path) -> tuple[object, ...]:
        status = path.lstat()
        kind, mode = stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode)
        if kind == stat.S_IFLNK:
            return kind, str(path.readlink()).replace(str(self.site), "SITE")
        if kind == stat.S_IFDIR or _NAMED_ONLY.search(name):
            return kind, mode
        if _SIZED_ONLY.search(name):
            return kind, mode, status.st_size
        return kind, mode, path.read_bytes().replace(str(self.site).encode(), b"SITE")


@dataclass
class Served(Life):
    """A copy that a daemon serves; each command is another agent's."""

    daemon: Serving = field(init=False)
    agents: int = field(init=False, default=0)

    @property
    def can_keep(self) -> bool:
        """Whether commands here can be kept from writing a file at all."""
        return _SHUT not in self.start

    def reset(self) -> list[str]:
        """The same, as a person would who works there."""
        changed = super().reset()
        paths = [each.removeprefix("work/") for each in changed if each.startswith("work/") and "/.git/" not in each]
        with self.daemon.session("person") as session:
            session.record_external_changes(paths)
        # Dates are set, so that another agent's commit may well be the same one again.
        for name in (COMMITS, STASHES):
            (self.daemon.state / FOLDER / name).unlink(missing_ok=True)
        return changed

    def newest_events(self) -> str:
        """What the daemon recorded of the last commands, for the message of a test that fails."""
        with self.daemon.session("reader") as session:
            return "\n".join(f"{each.at:.3f} {each.event}"[:300] for each in session.log(limit=20))

    def words(self, line: str) -> list[str]:
        """The launcher of shell commands, as agents' shells start it."""
        self.agents += 1
        return launching(http_address(str(self.daemon.state)), f"agent-{self.agents}", "block", ("bash", "-c", line))


class InClaude(Life):
    """A copy in which commands are run as Claude Code runs those of its model."""

    def words(self, line: str) -> list[str]:
        """The shell of Claude Code."""
        return ["bash", "-c", self.script(line)]

    def script(self, line: str) -> str:
        """What Claude Code makes of a command."""
        return _OF_CLAUDE.format(home=shlex.quote(str(self.site / "home")), line=shlex.quote(line))


class HookedClaude(Served, InClaude):
    """The same where Commonhold was installed; each command is another session's."""

    def install(self) -> None:
        """Install it for Claude Code, as its user does."""
        words = [*self.start, sys.executable, "-m", "commonhold", "install", "claude", "--yes"]
        subprocess.run(words, cwd=self.root, env=self.environment, capture_output=True, check=True)

    def do(self, line: str) -> Done:
        """Run a line between its hooks; what those say is the end of what was said."""
        self.agents += 1
        self.environment |= {"CLAUDE_CODE_SESSION_ID": str(UUID(int=self.agents)), "SHELL": "/bin/bash"}
        self.environment |= {"AI_AGENT": "claude-code_2-1-332_agent"}
        self.reset()
        assert self._hook("PreToolUse", line) is None
        done = super().do(line)
        said = self._hook("PostToolUse", line)
        return done if said is None else replace(done, complaint=done.complaint + str(said))

    def words(self, line: str) -> list[str]:
        """What the settings name, in place of the shell of Claude Code."""
        settings = json.loads((self.root / ".claude/settings.local.json").read_text(encoding="utf-8"))
        return [
            "bash",
            "-c",
            f"{shlex.quote(settings['env']['CLAUDE_CODE_SHELL_PREFIX'])} {shlex.quote(self.script(line))}",
        ]

    def _hook(self, event: str, line: str) -> Any:
        told: dict[str, Any] = {
            "session_id": self.environment["CLAUDE_CODE_SESSION_ID"],
            "hook_event_name": event,
            "cwd": str(self.root),
        }
        told |= {"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": f"call-{self.agents}"}
        words = [*self.start, sys.executable, "-I", "-S", hook_program.__file__, "claude"]
        words += [http_address(str(self.daemon.state)), "block", str(_PATIENCE_SECONDS)]
        done = subprocess.run(words, input=json.dumps(told).encode(), capture_output=True, check=True)
        return json.loads(done.stdout) if done.stdout else None


@contextmanager
def served(life: AnyServed) -> Iterator[AnyServed]:
    """The same while its daemon runs, which is started as the commands are."""
    life.daemon = Serving(life.root)
    words = ("-m", "commonhold.server.daemon", str(life.root), str(_NEVER_IDLE_SECONDS), "600")
    command = [*life.start, sys.executable, *words]
    variables = {**os.environ, **life.environment}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True, env=variables) as process:
        life.daemon.process = process
        try:
            life.daemon.wait_until_served()
            yield life
            assert life.daemon.stop() == ""
        finally:
            process.kill()
            life.daemon.end()


def _walk(folder: Path) -> Iterator[Path]:
    """All in a folder; of caches, and of git's own folders, that they are there."""
    for each in folder.iterdir():
        if f"{folder.name}/{each.name}" in _OURS:
            continue
        yield each
        if _kind(each) == stat.S_IFDIR and each.name not in {*_CLOSED, "home"} and not each.name.endswith(".git"):
            yield from _walk(each)


def _copied(source: Path, target: Path) -> Iterator[Path]:
    """Let a folder be as another is, but for what is ours in git's folder; what was different."""
    wanted = {each.name: each for each in source.iterdir()}
    for each in target.iterdir():
        if f"{target.name}/{each.name}" in _OURS:
            continue
        theirs = wanted.get(each.name)
        if theirs is None or _kind(theirs) != _kind(each):
            yield from _removed(each)
    for name, each in wanted.items():
        there = target / name
        if _kind(each) == stat.S_IFDIR:
            there.mkdir(exist_ok=True)
            yield from _copied(each, there)
            shutil.copystat(each, there)
        elif not _is_same(each, there):
            there.unlink(missing_ok=True)
            shutil.copy2(each, there, follow_symlinks=False)
            yield there


def _removed(path: Path) -> Iterator[Path]:
    if _kind(path) == stat.S_IFDIR:
        yield from [each for each in path.rglob("*") if _kind(each) != stat.S_IFDIR]
        shutil.rmtree(path)
    else:
        path.unlink()
        yield path


def _kind(path: Path) -> int:
    return stat.S_IFMT(path.lstat().st_mode)


def _is_same(one: Path, other: Path) -> bool:
    if not other.is_file():
        return False
    here, there = one.stat(), other.stat()
    are_alike = (here.st_size, here.st_mtime_ns, here.st_mode) == (there.st_size, there.st_mtime_ns, there.st_mode)
    return are_alike and one.read_bytes() == other.read_bytes()
