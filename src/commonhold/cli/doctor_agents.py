"""The findings of `doctor` about the agents in use: how strictly each is really kept to the leases, and why.

The installation is read, and then tried: each hook, and a shell, is started as the agent's program starts it.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from commonhold.agents import live_probes
from commonhold.agents.file_pieces import Piece
from commonhold.agents.hook_commands import Link, Ways, commands_in, ways_in
from commonhold.agents.hook_tables import CODEX
from commonhold.agents.live_probes import Trial
from commonhold.agents.setup import Level, Setup
from commonhold.agents.strictness import Seen, Standing, standing
from commonhold.cli.agent_changes import Project
from commonhold.client.daemon import pid_of
from commonhold.config import Shell, load_settings
from commonhold.diagnostics import calls
from commonhold.diagnostics.agent_programs import hooks_in_force, version
from commonhold.diagnostics.finding import Finding, fail, note, ok, warn
from commonhold.kernel.errors import CommonholdError
from commonhold.workspace.loopback import Loopback, loopback
from commonhold.workspace.repository import Repository
from commonhold.workspace.sandbox.probing import offered

_HOLDER: Final = "COMMONHOLD_HOLDER"
_LED_NOWHERE: Final = "its hooks do not lead to this program"
_FULL: frozenset[Level] = frozenset({Level.ENFORCED, Level.GATED})


def agents(repository: Repository) -> Iterator[Finding]:
    """Yield a finding for each agent in use, or that there is none."""
    project = Project(repository)
    setups = project.found()
    if not setups:
        yield ok("agents", "no coding agent was found here; to set one up all the same: commonhold install NAME")
    for setup in setups:
        try:
            yield _of(project.of_hooks(setup), setup)
        except CommonholdError as fault:
            yield fail(setup.name, f"{fault.message} [{fault.code}]", fault.hint)


@dataclass(frozen=True, slots=True)
class _Shells:
    """How an agent's shell commands are restricted, in words; whether none of them can run."""

    text: str = ""
    is_broken: bool = False


def _of(project: Project, setup: Setup) -> Finding:
    seen = _seen(project, setup)
    if not seen.is_installed and setup.level is not Level.DETECTED:
        return note(setup.name, "it is here, and not coordinated", f"commonhold install {setup.name}", level=Level.NONE)
    texts = {piece.paths[0]: _text(project, piece) for piece in setup.hooks(project.ways())}
    shells = _Shells()
    if not (seen.lost or seen.elsewhere):
        # In the order of a session: the question before a tool is used, a shell command, and the end.
        seen = replace(seen, refusing=_tried(project, setup, texts, live_probes.gating))
        shells = _shells(project, setup, texts)
        seen = replace(seen, silent=_tried(project, setup, texts, live_probes.telling))
    return _finding(setup, standing(setup, seen), shells)


def _finding(setup: Setup, found: Standing, shells: _Shells) -> Finding:
    shell = shells.text if shells.is_broken or found.level not in (Level.NONE, Level.DETECTED) else ""
    facts = {"level": found.level.value, "shell": shell}
    if found.is_broken:
        return fail(setup.name, f"broken: {found.why}", found.next_step, **facts)
    if shells.is_broken:
        return fail(setup.name, f"broken: {shell}", f"commonhold install {setup.name}", **facts)
    text = f"{found.level.value}: {found.why}" + (f"; {shell}" if shell else "")
    if found.level in _FULL or (found.level is setup.level and not found.next_step):
        return ok(setup.name, text, **facts)
    return warn(setup.name, text, found.next_step or "see `commonhold help agents`", **facts)


def _tried(
    project: Project, setup: Setup, texts: Mapping[str, str], made: Callable[[str, str, str], Iterator[Trial]]
) -> str:
    """Return why the first failing trial of its hooks fails; empty if all work."""
    root = project.repository.root
    each = (trial for text in texts.values() for trial in made(setup.name, text, root))
    return next(filter(None, (_made(trial, root) for trial in each)), "")


def _made(trial: Trial, root: str) -> str:
    """Return why a trial fails, twice in a row: a busy machine may be too late once."""
    return _made_once(trial, root) and _made_once(trial, root)


def _made_once(trial: Trial, root: str) -> str:
    if trial.url:
        return calls.post(trial.url, trial.token, trial.payload)
    return calls.run(trial.words, root, trial.payload, trial.environment)


def _shells(project: Project, setup: Setup, texts: Mapping[str, str]) -> _Shells:
    """Return how its shell commands are restricted; if they are, a command without effect is run to check it."""
    if why := _why_unkept(project, setup):
        return _Shells(why)
    if _HOLDER in os.environ:
        return _Shells("its shell is not tried from within a shell of an agent")
    trial = live_probes.shell(setup.name, texts)
    if trial is None:
        return _Shells("what its shell commands write is only detected: nothing leads them to the launcher")
    if failing := _made(trial, project.repository.root):
        return _Shells(f"its shell commands fail, or run unwatched: {failing}", is_broken=True)
    sandbox = offered()
    but = "; in its own sandbox that is only detected" if setup.nests_shell else ""
    return _Shells(f"its shell commands cannot write files that others hold, by {sandbox.name}{but}")


def _why_unkept(project: Project, setup: Setup) -> str:
    """Return why its shell commands are not restricted; empty if they should be."""
    if not setup.keeps_shell:
        return "what its shell commands write is noticed afterwards: nothing can stand between it and its shell"
    chosen = load_settings(project.repository.root).shell
    why = project.why_unkept(setup.name) or (_why_detected(setup) if chosen == Shell.SANDBOX else "")
    if why:
        return f"what its shell commands write is only detected: {why}"
    return "" if chosen == Shell.SANDBOX else f"what its shell commands write is not kept back: shell is {chosen}"


def _why_detected(setup: Setup) -> str:
    """Return why its launcher does not restrict commands; empty if it does."""
    program = _program(setup)
    if setup.keeps_since and program:
        told = version(program)
        if told is None:
            return f"{program} does not say which version it is"
        if told < setup.keeps_since:
            return f"this version of {setup.title} was not tried"
    return "" if offered().is_enforced else "nothing can be mounted on this machine"


def _seen(project: Project, setup: Setup) -> Seen:
    pieces = setup.hooks(project.ways())
    ways = [each for piece in pieces for each in ways_in(_text(project, piece))]
    is_watched = pid_of(project.repository) is not None
    if not ways:
        is_there = any(commands_in(_text(project, piece)) for piece in pieces)
        return Seen(is_installed=is_there, is_watched=is_watched, troubles=(_LED_NOWHERE,) if is_there else ())
    chosen = loopback(project.repository.state_folder)
    lost = dict.fromkeys(
        path for each in ways for path in (each.python, each.hook_program) if not os.access(path, os.R_OK)
    )
    return Seen(
        is_installed=True,
        troubles=_troubles(project, setup, ways[0], chosen),
        lost=tuple(lost),
        turned_off=project.hooks_off(setup.name),
        elsewhere=_elsewhere(ways[0], project.ways()),
        by_another=ways[0].python if ways[0].python != sys.executable else "",
        lets_pass=any(each.policy == "allow" for each in ways),
        distrusted=_distrusted(project, setup),
        is_too_old=_is_before(setup, setup.blocks_since),
        is_watched=is_watched,
    )


def _text(project: Project, piece: Piece) -> str:
    return next((text for path in piece.paths if (text := project.load(path)) is not None), "")


def _troubles(project: Project, setup: Setup, ways: Ways, chosen: Loopback | None) -> tuple[str, ...]:
    """Differences from an installation by command hooks or over HTTP, whichever has fewer."""
    links = [None] if chosen is None else [None, Link(chosen.url, chosen.token)]
    wanted = project.ways()
    there = replace(wanted, python=ways.python, hook_program=ways.hook_program, socket=ways.socket, policy=ways.policy)
    told = [
        tuple(
            f"{piece.paths[0]}: {why}"
            for piece in setup.hooks(replace(there, link=link))
            if (why := piece.trouble(_text(project, piece) or None))
        )
        for link in links
    ]
    return min(told, key=len)


def _elsewhere(installed: Ways, wanted: Ways) -> str:
    if installed.socket == wanted.socket:
        return ""
    return f"its hooks ask at {installed.socket}, and this repository answers at {wanted.socket}"


def _distrusted(project: Project, setup: Setup) -> tuple[str, ...] | None:
    """Return the events for which Codex ignores our hooks; None if it cannot be asked."""
    if setup.name != "codex":
        return ()
    program = shutil.which("codex")
    if program is None:
        return None
    root = project.repository.root
    trusted = hooks_in_force(program, root, str(Path(root, ".codex", "hooks.json")))
    names = [f"{hook.event[0].lower()}{hook.event[1:]}" for hook in CODEX]
    return None if trusted is None else tuple(dict.fromkeys(name for name in names if name not in trusted))


def _is_before(setup: Setup, since: tuple[int, ...]) -> bool:
    """Whether it is installed in an earlier version; one that does not report its version counts as such."""
    program = _program(setup)
    return bool(since) and program is not None and (version(program) or ()) < since


def _program(setup: Setup) -> str | None:
    return next(filter(None, map(shutil.which, setup.programs)), None)
