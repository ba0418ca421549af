"""The sandbox `docker`: each command of a session is run in a container of its own.

The command appends to the log itself, so that no output depends on the engine. A shell is the first process there: it
collects orphans, and prints the counts of the kernel when the command has ended. The container is known by its labels.
"""

import json
import os
import re
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from commonhold.kernel.managed_session import EndCause, ManagedSession
from commonhold.machine.logs import Log
from commonhold.machine.process_groups import SESSION_LABEL as SESSION_VARIABLE
from commonhold.machine.process_groups import has_ended
from commonhold.machine.process_tree import kill_with_variable
from commonhold.session_host import docker
from commonhold.session_host.commands import GRACE_SECONDS, Command, Process, Stopped, as_signal
from commonhold.session_host.limits import Limits, memory_told
from commonhold.session_host.sandbox import Bind, hidden, own_programs, private_git, workspace_binds
from commonhold.session_host.session_files import SessionFiles, WorkspaceNote
from commonhold.session_host.terminal import CommandTerminal

MOST_PROCESSES: Final = 4096
ENGINE_SECONDS: Final = 60.0
"""How long an engine that does not answer is waited for."""
_FIRST_PAUSE_SECONDS: Final = 0.5
_ANSWER_SECONDS: Final = 8.0
"""How long an engine is waited for during a turn, in which the lease must be renewed."""
_LOOK_SECONDS: Final = 0.05
_LOG: Final = "/run/commonhold/log"
_COUNTS: Final = " ".join(
    f"/sys/fs/cgroup/{name}"
    for name in ("memory.events", "memory.peak", "memory/memory.oom_control", "memory/memory.max_usage_in_bytes")
)
_FIRST_PROCESS: Final = f'"$@" >>{_LOG} 2>&1; status=$?; cat {_COUNTS} 2>/dev/null; exit $status'
_FIRST_AT_TERMINAL: Final = '"$@"; exit $?'
_TERMINATE: Final = "kill -TERM -1"
_HANG_UP: Final = f"kill -HUP -1; {_TERMINATE}"
_KILLS: Final = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)
_PEAK: Final = re.compile(r"^(\d+)$", re.MULTILINE)
_VARIABLE: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_NOT_STARTED: Final = 125
"""The exit status of `docker run` if there is no container."""
_FAULT: Final = re.compile(r"^docker: (?:Error response from daemon: )?(.*)$", re.MULTILINE)
_MOST_PRINTED: Final = 64 << 10
_log: Final = Log(__name__)


def contained(
    session: ManagedSession, note: WorkspaceNote, files: SessionFiles, git_dir: Path, image: str
) -> WorkspaceNote:
    """Make the folders of a session's sandbox, and return its note with the words that begin each command.

    `git_dir` is the common git folder of the repository. Without an `image` the programs of this machine are seen in
    the container. Raises StoreError `SANDBOX_FAILED`, OSError.
    """
    options = docker.engine_options()
    with files.making_worktrees():  # images of the same name that are made at once leave some without a name
        name = docker.require_image(image)
    files.containers.touch()
    private = private_git(session, note, files, git_dir)
    log = files.log(session.id, note.attempt)
    log.touch()
    binds = [Bind(str(log), _LOG, is_writable=True), *workspace_binds(session, note, private, git_dir)]
    if not image:
        binds = [*(Bind(each, each) for each in docker.system_folders()), *own_programs(), *binds]
    labels = {
        docker.REPOSITORY_LABEL: files.mark,
        docker.SESSION_LABEL: session.id,
        docker.ATTEMPT_LABEL: str(note.attempt),
    }
    words = (
        *(word for label, value in labels.items() for word in ("--label", f"{label}={value}")),
        *_confinement(session, options),
        *(word for mount in dict(_mounts(binds)).values() for word in ("--mount", mount)),
        *("--workdir", note.path, "--entrypoint", "/bin/sh", name),
    )
    return replace(note, container=words, private=str(private))


def _confinement(session: ManagedSession, options: frozenset[str]) -> Iterator[str]:
    yield from ("--pull", "never", "--log-driver", "none", "--no-healthcheck", "--read-only")
    yield from ("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", str(MOST_PROCESSES))
    yield from ("--stop-timeout", "1")  # of an engine that is stopped: the first process passes no signal on
    yield from ("--network", "host" if session.network else "none")
    # The root of a rootless engine is the user who started it.
    user, group = (0, 0) if "rootless" in options else (os.getuid(), os.getgid())
    yield from ("--user", f"{user}:{group}")
    if "userns" in options:
        yield from ("--userns", "host")
    if session.memory_bytes:
        yield from ("--memory", str(session.memory_bytes), "--memory-swap", str(session.memory_bytes))
    if session.cpus:
        yield from ("--cpus", f"{session.cpus:g}")
    for folder in hidden():
        yield from ("--tmpfs", f"{folder}:rw,exec,nosuid,nodev,mode=1777")


def _mounts(binds: Iterable[Bind]) -> Iterator[tuple[str, str]]:
    """Yield the places of binds, each with the value of its option, a line of CSV.

    No link of this machine is there: the file or folder that one names is seen at both places.
    """
    for bind in binds:
        source = os.path.realpath(bind.source)
        for place in {bind.place, source} if bind.source == bind.place else {bind.place}:
            fields = ("type=bind", f"source={source}", f"target={place}", *(() if bind.is_writable else ("readonly",)))
            yield place, ",".join('"{}"'.format(field.replace('"', '""')) for field in fields)


def started(
    note: WorkspaceNote,
    words: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    limits: Limits = Limits(),  # noqa: B008 - it is frozen
    spared: Callable[[], Collection[int]] = tuple,
    terminal: CommandTerminal | None = None,
) -> Command:
    """Start a command in a workspace, in its sandbox; see `Turn`. Raises OSError if it cannot be started."""
    return (
        Container(note, words, environment, terminal)
        if note.container
        else Process(note, words, environment, log, limits, spared, terminal)
    )


class Container:
    """A command in a container of its own: see Command."""

    def __init__(
        self,
        note: WorkspaceNote,
        words: Sequence[str],
        environment: Mapping[str, str],
        terminal: CommandTerminal | None = None,
    ) -> None:
        """Start it in the sandbox of a workspace, with these variables. Raises OSError if there is no `docker`."""
        self._name = f"commonhold-{note.session}-{note.attempt}-{secrets.token_hex(6)}"
        self._label = environment.get(SESSION_VARIABLE, "")
        is_of_host = note.container[-1].startswith(docker.HOST_IMAGE)
        passed = [
            name
            for name in environment
            if _VARIABLE.fullmatch(name) and not name.startswith("DOCKER_") and (is_of_host or name != "PATH")
        ]
        # It takes the values from its own environment, where other users do not see them.
        variables = (word for name in passed for word in ("--env", name))
        shell, sends = (_FIRST_AT_TERMINAL, _HANG_UP) if terminal else (_FIRST_PROCESS, _TERMINATE)
        options = ("--name", self._name, *variables, *(("--interactive", "--tty") if terminal else ()), *note.container)
        self._client = _client(("run", *options, "-c", shell, "sh", *words), environment, terminal=terminal)
        self._sends = sends
        self._environment = dict(environment)
        self._printed = ""
        self._pause, self._looks_at, self._lost_at, self._was_lost = _FIRST_PAUSE_SECONDS, 0.0, 0.0, False
        self._has_ended = False
        self._state: dict[str, Any] = {}
        self._limit = 0

    def has_ended(self, seconds: float) -> bool:
        """See Command. An engine that does not answer is asked again, with growing pauses, for ENGINE_SECONDS."""
        if not self._has_ended and has_ended(self._client.pid, seconds):
            if (left := self._looks_at - time.monotonic()) > 0:
                time.sleep(min(left, seconds))
            else:
                self._look()
        return self._has_ended

    def _look(self) -> None:
        """Ask the engine about the container, whose client has ended."""
        shown = "[{{json .State}},{{.HostConfig.Memory}}]"
        done = docker.call("inspect", "--format", shown, self._name, seconds=_ANSWER_SECONDS)
        if done.returncode and not docker.is_unknown(done):
            self._wait_for_engine(done)
            return
        self._collect()
        self._lost_at = 0.0
        if done.returncode == 0:
            self._state, self._limit = json.loads(done.stdout)
        if done.returncode == 0 and self._state["Running"]:  # its client was lost, or the engine for a while
            self._client = _client(("wait", self._name), self._environment, subprocess.DEVNULL)
        else:
            self._has_ended = True

    def _wait_for_engine(self, done: subprocess.CompletedProcess[str]) -> None:
        now = time.monotonic()
        self._was_lost = self._was_lost or not docker.is_late(done)
        if not self._lost_at:
            _log.warning("engine does not answer", container=self._name, why=done.stderr)
            self._lost_at, self._pause = now, _FIRST_PAUSE_SECONDS
        self._has_ended = now - self._lost_at >= ENGINE_SECONDS
        self._looks_at = min(now + self._pause, self._lost_at + ENGINE_SECONDS)
        self._pause *= 2

    def _collect(self) -> None:
        """Read the output of the client, once, and collect its exit status."""
        if self._client.stdout is not None and not self._client.stdout.closed:
            with self._client.stdout as printed:
                self._printed += printed.read(_MOST_PRINTED).decode("utf-8", "replace")
        self._client.wait()

    def end(self, *, is_asked: bool) -> None:
        """See Command. If the engine does not answer, its processes are killed by their label."""
        if is_asked and not self._has_ended:
            docker.call("exec", self._name, "/bin/sh", "-c", self._sends, seconds=_ANSWER_SECONDS)
            until = time.monotonic() + GRACE_SECONDS
            while not self.has_ended(_LOOK_SECONDS) and time.monotonic() < until:
                pass
        done = docker.call("rm", "--force", "--volumes", self._name)
        if done.returncode and not docker.is_unknown(done) and self._label:
            kill_with_variable(SESSION_VARIABLE, self._label)
        self._client.kill()
        self._collect()

    def outcome(self) -> tuple[int | None, Stopped | None]:
        """See Command."""
        if not self._has_ended:
            return -signal.SIGKILL, None  # it has not ended in time
        if self._lost_at:
            note = f"the Docker engine has not answered for {ENGINE_SECONDS:g} s; its container is removed when it does"
            return None, Stopped(EndCause.ENGINE_LOST, note)
        ended = as_signal(self._client.returncode)
        status = as_signal(int(self._state["ExitCode"])) if self._state else ended
        if self._state.get("Status") == "created" or (not self._state and ended == _NOT_STARTED):
            found = _FAULT.search(self._printed)
            why = self._state.get("Error") or (found[1] if found else self._printed.strip())
            return None, Stopped(EndCause.NOT_STARTED, f"its container could not be started: {why}")
        if status and self._was_lost:
            return status, Stopped(EndCause.ENGINE_LOST, "the Docker engine was lost, and has ended its container")
        if status and (self._state.get("OOMKilled") or _last(_KILLS, self._printed)):
            peak = _last(_PEAK, self._printed) or self._limit  # the kernel may have killed the shell, too
            return status, Stopped(EndCause.OUT_OF_MEMORY, f"it was out of memory: {memory_told(self._limit, peak)}")
        return status, None


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Return the last number that it finds, or 0; numbers that the agent may have written there come before."""
    return next((int(found[1]) for found in reversed([*pattern.finditer(text)])), 0)


def _client(
    words: Sequence[str],
    environment: Mapping[str, str],
    out: int = subprocess.PIPE,
    terminal: CommandTerminal | None = None,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the program is docker
        (*(terminal.words if terminal else ()), docker.PROGRAM, *words),
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
