"""The demo from its options to its exit status."""

import asyncio
import shlex
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console

from commonhold.demo import beside_server
from commonhold.demo.conductor import Conductor
from commonhold.demo.crew import AgentDiedError
from commonhold.demo.hooked import PATH, HooksFailedError, Scene, play
from commonhold.demo.options import DemoOptions
from commonhold.demo.report import Report

DONE: Final = 0
FAILED: Final = 1
INTERRUPTED: Final = 130
_TWO: Final = "1. Two agents change one function, as after `commonhold install`: only their hooks are at work."
_WATCH: Final = "Two agents collide in a small repository. Watch them in a browser (Ctrl-C ends it):\n\n  {}\n"
_MANY: Final = "2. {} agents change one package at the same time, three times over: see how many edits get lost."


def show(options: DemoOptions) -> int:
    """Run the demo and report. 0: Commonhold lost nothing and applied everything; 1: not so; 130: interrupted."""
    # However the demo ends, its agents and its folder go with it.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    options = options.sized()
    progress = Console(stderr=options.json)
    folder = Path(tempfile.mkdtemp(prefix="commonhold-demo-"))
    try:
        if options.dashboard:
            beside_server.show(folder, options.port, lambda link: progress.print(_WATCH.format(link), soft_wrap=True))
            return DONE
        scene = _hooked(folder, progress)
        progress.print(_MANY.format(options.agents), style="bold", markup=False)
        report = asyncio.run(Conductor(options, folder, progress).play())
    except KeyboardInterrupt:
        progress.print("interrupted: the agents are ended, the temporary folder is removed")
        return INTERRUPTED
    except (AgentDiedError, HooksFailedError) as fault:
        progress.print(f"The demo failed: {fault}", style="red", markup=False)
        return FAILED
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    _tell(report, folder / "repository")
    return DONE if report.is_proof and scene.is_proof else FAILED


def _hooked(folder: Path, progress: Console) -> Scene:
    """Show two agents whose edits are coordinated by their hooks. Raises HooksFailedError."""
    progress.print(_TWO, style="bold", markup=False)
    scene = play(folder)
    told = "\n".join(f"   {line}" for line in scene.lines)
    progress.print(told, markup=False, highlight=False, overflow="ellipsis", no_wrap=True)
    fate = "has both changes" if scene.is_proof else "does NOT have both changes"
    progress.print(f"   {PATH} {fate}:\n", style="green" if scene.is_proof else "bold red", markup=False)
    function = scene.text.partition("\n\n")[0]
    progress.print("\n".join(f"     {line}" for line in function.splitlines()) + "\n", markup=False, highlight=False)
    return scene


def _tell(report: Report, repository: Path) -> None:
    data = msgspec.json.format(msgspec.json.encode(report.shape()), indent=2)
    if report.options.report is not None:
        Path(report.options.report).write_bytes(data + b"\n")
    if report.options.json:
        print(data.decode())  # noqa: T201 - the answer itself, untouched by rich
        return
    out = Console(highlight=False)
    out.print(report.table())
    # Not wrapped: the command in it must stay easy to copy.
    out.print(f"\n{report.words()}\n\n{_where(report.options, repository)}", markup=False, soft_wrap=True)


def _where(options: DemoOptions, repository: Path) -> str:
    fate = "is kept; every run is a tag in it" if options.keep else "was removed (--keep keeps it)"
    again = [*_command(), "demo", "--seed", str(options.seed)]
    for name in ("agents", "edits", "think"):
        again += [f"--{name}", f"{getattr(options, name):g}"]
    return f"The repository, {repository}, {fate}.\nThe same edits again (their timing differs): {shlex.join(again)}"


def _command() -> list[str]:
    """Return the command that runs this program: its name if the shell finds it, else its path."""
    if shutil.which("commonhold"):
        return ["commonhold"]
    script = Path(sys.executable).with_name("commonhold")
    if not script.exists():
        return [sys.executable, "-m", "commonhold"]
    is_below = script.is_relative_to(Path.cwd())
    return [str(script.relative_to(Path.cwd()) if is_below else script)]
