"""What `doctor` finds of the agents that are there: how far each is really kept to what was agreed, and why."""

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from commonhold.adapters.loopback import Loopback, loopback
from commonhold.adapters.probes.agent_programs import hooks_in_force, version
from commonhold.adapters.probes.finding import Finding, fail, ok, warn
from commonhold.adapters.repository import Repository
from commonhold.adapters.sandbox.probing import offered
from commonhold.agents.calling import Link, Ways, ways_in
from commonhold.agents.hook_tables import CODEX
from commonhold.agents.pieces import Piece
from commonhold.agents.setup import Level, Setup
from commonhold.agents.standing import Seen, Standing, standing
from commonhold.cli.agent_changes import Project
from commonhold.client.daemon import pid_of
from commonhold.config import Shell, load_settings
from commonhold.domain.errors import CommonholdError

_FULL: frozenset[Level] = frozenset({Level.ENFORCED, Level.GATED})


def agents(repository: Repository) -> Iterator[Finding]:
    """A finding for each agent that is there, or that none is."""
    project = Project(repository)
    setups = project.found()
    if not setups:
        yield ok("agents", "none is there that Commonhold knows: commonhold install NAME is for one that is to come")
    for setup in setups:
        try:
            place = project.of_hooks(setup)
            found = standing(setup, _seen(place, setup))
            yield _finding(setup, found, _shell(place, setup, found.level))
        except CommonholdError as fault:
            yield fail(setup.name, f"{fault.message} [{fault.code}]", fault.hint)


def _finding(setup: Setup, found: Standing, shell: str) -> Finding:
    text = f"{found.level.value}: {found.why}" + (f"; {shell}" if shell else "")
    facts = {"level": found.level.value, "shell": shell}
    if found.is_broken:
        return fail(setup.name, text, found.next_step, **facts)
    if found.level in _FULL or (found.level is setup.level and not found.next_step):
        return ok(setup.name, text, **facts)
    return warn(setup.name, text, found.next_step or "see docs/agents.md", **facts)


def _shell(project: Project, setup: Setup, level: Level) -> str:
    """What becomes of its shell commands, where its hooks are in force."""
    if level in (Level.NONE, Level.DETECTED):
        return ""
    if not setup.keeps_shell:
        return "what its shell commands write is noticed afterwards: nothing can stand between it and its shell"
    chosen = load_settings(project.repository.root).shell
    why = project.why_unkept(setup.name) or (_why_detected(setup) if chosen == Shell.SANDBOX else "")
    if why:
        return f"what its shell commands write is only detected: {why}"
    if chosen != Shell.SANDBOX:
        return f"what its shell commands write is not kept back: shell is {chosen}"
    sandbox = offered()
    but = "; in its own sandbox that is only detected" if setup.nests_shell else ""
    return f"its shell commands are kept from what others hold by {sandbox.name}{but}"


def _why_detected(setup: Setup) -> str:
    """Why nothing keeps back what its launcher runs; empty where something does."""
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
        return Seen(is_installed=False, is_watched=is_watched)
    chosen = loopback(project.repository.state_folder)
    lost = dict.fromkeys(path for each in ways for path in (each.python, each.knock) if not os.access(path, os.R_OK))
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
    """What is not as `install` makes it, by command hooks or over HTTP: the better of the two counts."""
    links = [None] if chosen is None else [None, Link(chosen.url, chosen.token)]
    wanted = project.ways()
    there = replace(wanted, python=ways.python, knock=ways.knock, socket=ways.socket, policy=ways.policy)
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
    """The events of Codex that it leaves our hooks for out; None where it cannot be asked."""
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
    """Whether it is there in a version from before that one; one that does not tell counts as such."""
    program = _program(setup)
    return bool(since) and program is not None and (version(program) or ()) < since


def _program(setup: Setup) -> str | None:
    return next(filter(None, map(shutil.which, setup.programs)), None)
