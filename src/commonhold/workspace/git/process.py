"""Queries to git. Variables in the caller's environment about another repository have no effect here."""

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.machine.process_groups import start_apart

_TIMEOUT_SECONDS: Final = 10
_IDENTITY: Final = frozenset(
    f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL", "DATE")
)
_SOCKET: Final = "COMMONHOLD_SOCKET"
# Hooks and background work are switched off here. The monitor is switched off for every call.
_ALONE: Final = (
    *("-c", f"core.hooksPath={os.devnull}", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
    # A file whose time was set back is read again, whatever the repository's settings say.
    *("-c", "core.trustCtime=true", "-c", "core.checkStat=default"),
    *("-c", "log.showSignature=false"),  # it would be printed amid what is asked for
)

Done = subprocess.CompletedProcess[bytes]


def run(
    *words: str,
    folder: str | None = None,
    settings: Mapping[str, str] | None = None,
    timeout_seconds: float | None = None,
    given: bytes = b"",
) -> Done:
    """Run git in `folder`, with `settings` in its environment and `given` as its input.

    No monitor that the repository names is started. Raises OSError if there is no git, and TimeoutExpired.
    """
    return subprocess.run(
        _command(words),
        cwd=folder,
        env=_inherited() | dict(settings or {}),
        timeout=timeout_seconds,
        input=given,
        capture_output=True,
        check=False,
    )


def ask(*words: str) -> str | None:
    """Return git's answer; None if it fails, is not installed, or exceeds the timeout."""
    try:
        done = run(*words, timeout_seconds=_TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "backslashreplace").strip() if done.returncode == 0 else None


def _command(words: tuple[str, ...]) -> tuple[str, ...]:
    if any("\0" in each for each in words):
        message = "a name for git has the character NUL, which no name can have"
        raise InputError(Code.TEXT_INVALID, message, hint="leave the character out")
    return ("git", "-c", "core.fsmonitor=false", *words)


def _inherited() -> dict[str, str]:
    """Return the environment without variables about a repository; the committer is the user, in any repository.

    In an agent's shell `git` is a stand-in that asks the daemon. Without the address of its socket it is git itself: a
    daemon that was started there would ask itself, without end.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _IDENTITY}
    kept.pop(_SOCKET, None)
    return kept


class Git:
    """Git in one working tree: it runs no hook and no monitor, whatever the repository's settings name.

    Filters do run, as in any checkout: without them the files would differ from those that the project uses.
    """

    def __init__(self, root: str) -> None:
        """Act in the working tree at `root`."""
        self.root = root

    def run(
        self,
        *words: str,
        given: bytes = b"",
        settings: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> Done:
        """Run git, and let the caller see how it ended. Raises StoreError `GIT_FAILED` if git or the tree is gone.

        Raises TimeoutExpired if a timeout is set and git exceeds it; git has been ended then.
        """
        try:
            told = _told(settings)
            return run(*_ALONE, *words, folder=self.root, settings=told, given=given, timeout_seconds=timeout_seconds)
        except FileNotFoundError as fault:
            message, hint = "there is no git to be run", "install git 2.38 or newer, or fix PATH"
            if not os.path.isdir(self.root):
                message, hint = f"there is no folder {self.root!r} any more", "work in a folder that is there"
            raise StoreError(Code.GIT_FAILED, message, hint=hint) from fault

    def ask(self, *words: str, given: bytes = b"", settings: Mapping[str, str] | None = None) -> bytes:
        """Return git's answer. Raises StoreError `GIT_FAILED` if it fails."""
        done = self.run(*words, given=given, settings=settings)
        if done.returncode:
            raise failed(words[0], done)
        return done.stdout

    def line(self, *words: str) -> str | None:
        """Return the one line that git answers; None if it answers that there is none."""
        done = self.run(*words)
        return os.fsdecode(done.stdout).removesuffix("\n") if done.returncode == 0 else None

    def finish(self, *words: str, settings: Mapping[str, str] | None = None) -> Done:
        """Run git to its end: in a session of its own neither Ctrl-C nor the end of this process stops it midway.

        Ctrl-C comes too late to undo it, so it is ignored.
        """
        begun: list[subprocess.Popen[bytes]] = []

        def begin() -> None:
            begun.append(
                subprocess.Popen(
                    _command((*_ALONE, *words)),
                    cwd=self.root,
                    env=_inherited() | _told(settings),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            )

        try:
            start_apart(begin)
        except KeyboardInterrupt:
            if not begun:
                raise
        child, said = begun[0], b""
        while child.returncode is None:
            with suppress(KeyboardInterrupt):
                _, said = child.communicate()
        return subprocess.CompletedProcess(words, child.returncode, b"", said)


def _told(settings: Mapping[str, str] | None) -> dict[str, str]:
    return {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **(settings or {})}


def overriding(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which these settings of git hold, whatever the files say; any name is possible."""
    environment = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return environment


def failed(word: str, done: Done) -> StoreError:
    """Return the error for a git call that failed."""
    said = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
    return StoreError(
        Code.GIT_FAILED,
        f"`git {word}` failed: {said}",
        hint="do what git says, then repeat the same call; merging needs git 2.38 or newer",
        fields={"command": word, "status": done.returncode},
    )
