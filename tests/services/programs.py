"""The programs that tests need beside Python: where they are, and how they are got where they may be installed."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

INSTALLING_TAKES_AT_MOST_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class Program:
    """A program, the packages that bring it, and the folders off PATH that it may be in."""

    name: str
    debian: tuple[str, ...]
    homebrew: str
    folders: tuple[str, ...] = ()


PROGRAMS: Final = {
    program.name: program
    for program in (
        Program("initdb", ("postgresql",), "postgresql", ("/usr/lib/postgresql/*/bin",)),
        Program("pgbouncer", ("pgbouncer",), "pgbouncer", ("/usr/sbin",)),
        Program("redis-server", ("redis-server",), "redis"),
        Program("spin", ("spin",), "spin"),
        Program("gcc", ("gcc", "libc6-dev"), "gcc"),
        Program("dockerd", ("docker.io",), "docker", ("/usr/sbin",)),
        Program("docker", ("docker.io",), "docker"),
        Program("ps", ("procps",), "procps"),
        Program("bwrap", ("bubblewrap",), "bubblewrap"),
        *(Program(name, (name,), name) for name in ("ed", "patch", "perl", "vim")),
        Program("node", ("nodejs",), "node"),
        Program("npm", ("npm",), "node"),
        Program("chromium", ("chromium",), "chromium"),
    )
}


class MissingProgramError(Exception):
    """A program is not here and could not be got. `is_failure` says whether a test may do without."""

    def __init__(self, program: Program, why: str, *, is_failure: bool) -> None:
        """Say what is missing and how to get it."""
        self.is_failure = is_failure
        get = f"Debian: apt-get install {' '.join(program.debian)}; macOS: brew install {program.homebrew}"
        super().__init__(f"{program.name} is missing: {why}. {get}")


class InstallationFailedError(Exception):
    """The package manager was there and allowed, and failed."""


def find_or_install(name: str) -> Path:
    """Find one of PROGRAMS, or install it; a missing one is a failure in CI and wherever installing was possible."""
    program = PROGRAMS[name]
    found = locate(program) or _install_and_locate(program)
    if found is None:
        why = "it is not on PATH, and nothing may be installed here"
        raise MissingProgramError(program, why, is_failure=in_ci())
    return found


def locate(program: Program) -> Path | None:
    """Find a program on PATH, or where its package hides it: in the folder of the newest version."""
    if found := shutil.which(program.name):
        return Path(found)
    folders = [folder for pattern in program.folders for folder in Path("/").glob(pattern.removeprefix("/"))]
    places = (folder / program.name for folder in sorted(folders, key=_version, reverse=True))
    return next((place for place in places if os.access(place, os.X_OK)), None)


def missing(names: Iterable[str]) -> list[Program]:
    """Those of the named programs that are not here."""
    return [PROGRAMS[name] for name in names if locate(PROGRAMS[name]) is None]


def in_ci() -> bool:
    """Whether this is CI, where a missing service is never left out."""
    return bool(os.environ.get("CI"))


def can_install() -> bool:
    """Whether packages may be installed without asking anybody: on Debian and its kin, as root or by sudo."""
    return sys.platform == "linux" and shutil.which("apt-get") is not None and _prefix() is not None


def install(programs: Iterable[Program]) -> None:
    """Install what brings these programs. The package lists are fetched again only if the old ones do not do."""
    packages = [package for program in programs for package in program.debian]
    command = ["install", "--yes", "--no-install-recommends", *packages]
    with _one_at_a_time():
        if _apt_get(*command).returncode == 0:
            return
        _apt_get("update")
        if (result := _apt_get(*command)).returncode != 0:
            raise InstallationFailedError(f"apt-get {' '.join(command)} failed:\n{result.stdout[-2000:]}")


def _install_and_locate(program: Program) -> Path | None:
    if not can_install():
        return None
    try:
        install([program])
    except InstallationFailedError as failure:
        raise MissingProgramError(program, str(failure), is_failure=True) from failure
    return locate(program)


def _version(folder: Path) -> list[int]:
    return [int(digits) for part in folder.parts for digits in [part.partition(".")[0]] if digits.isdigit()]


def _prefix() -> list[str] | None:
    """What makes a command run as root, or None if nothing does without a password."""
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], check=False, capture_output=True).returncode == 0:
        return [sudo, "-n"]
    return None


def _apt_get(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = ["env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C"]
    return subprocess.run(
        [*(_prefix() or []), *environment, "apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300", *arguments],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=INSTALLING_TAKES_AT_MOST_SECONDS,
    )


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Let the workers of a test run, and runs beside each other, install in turn."""
    lock = Path(tempfile.gettempdir(), f"commonhold-installs-{os.geteuid()}.lock")
    with lock.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
