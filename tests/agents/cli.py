"""The agents' own programs, as they are run here: headless, isolated, with the scripted model as the only host."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(os.environ.get("COMMONHOLD_AGENT_CLIS") or Path(__file__).parents[2] / ".venv" / "agents")
SECONDS: Final = 120
_DEPTHS: Final = ("node_modules/.bin", "*/node_modules/.bin", "bin", "*/bin")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an agent works: a repository, a home that is its alone, and the address of its model."""

    root: Path
    home: Path
    model: str

    @property
    def scratch(self) -> Path:
        """Its temporary folder. Codex makes none of its own programs in a home that lies in a temporary folder."""
        return self.home.with_name("scratch")


@dataclass(frozen=True, slots=True)
class Cli:
    """One agent's program.

    `package` is what npm or pip installs it by. `furnish` writes what it must find in its home; `command` are its
    arguments to do what a prompt says and end; `variables` are what it must find in its environment.
    """

    name: str
    program: str
    package: str
    command: Callable[[Place, str], list[str]]
    variables: Callable[[Place], dict[str, str]]
    furnish: Callable[[Place], None] = lambda _place: None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    status: int
    output: str
    complaint: str


def program_of(cli: Cli, folder: Path = FOLDER) -> Path:
    """Where the program of an agent is."""
    found = [path for depth in _DEPTHS for path in folder.glob(f"{depth}/{cli.program}")]
    if not found:
        raise FileNotFoundError(f"{cli.program} is not in {folder}: make test-agents installs it")
    return found[0]


def environment(place: Place, variables: Mapping[str, str]) -> dict[str, str]:
    """All that an agent finds in its environment: nothing of ours leaks in."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(place.home),
        "TMPDIR": str(place.scratch),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_PROXY": "127.0.0.1,localhost",
        **variables,
    }


def start(cli: Cli, place: Place, prompt: str, *more: str, **variables: str) -> subprocess.Popen[bytes]:
    """An agent that works on a prompt."""
    place.home.mkdir(exist_ok=True)
    place.scratch.mkdir(exist_ok=True)
    cli.furnish(place)
    return subprocess.Popen(
        [*_alone(), str(program_of(cli)), *cli.command(place, prompt), *more],
        cwd=place.root,
        env=environment(place, cli.variables(place) | variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _alone() -> list[str]:
    """What ends the program and all that it started with us, where that is to be had."""
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


def outcome(running: subprocess.Popen[bytes], seconds: float = SECONDS) -> Outcome:
    """How it ended; if it does not end in time it is ended, and that is an error."""
    try:
        output, complaint = running.communicate(timeout=seconds)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, 9)
            running.wait()  # else a later test is blamed for it
            for stream in filter(None, (running.stdout, running.stderr)):
                stream.close()
    return Outcome(running.returncode, output.decode(errors="replace"), complaint.decode(errors="replace"))


def run(cli: Cli, place: Place, prompt: str, *more: str, **variables: str) -> Outcome:
    """What comes of a prompt."""
    return outcome(start(cli, place, prompt, *more, **variables))
