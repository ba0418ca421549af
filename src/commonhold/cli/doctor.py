"""`commonhold doctor`: checks of the machine, the repository and the installed hooks."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from typing import Final

import click

import commonhold
from commonhold.api.wire.text import Json
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.config import settings_of, told
from commonhold.cli.doctor_agents import agents
from commonhold.cli.exit_status import DONE, FAMILIES
from commonhold.cli.instant_input import instant_of
from commonhold.cli.opening import agent_of, opened
from commonhold.cli.output import answer, shown, some
from commonhold.client.daemon import pid_of
from commonhold.config import Settings, load_settings
from commonhold.diagnostics.finding import Finding, Level, fail, ok
from commonhold.diagnostics.http import over_http, serving
from commonhold.diagnostics.log import log
from commonhold.diagnostics.machine import machine
from commonhold.diagnostics.state import can_be_entered, restored, state
from commonhold.diagnostics.type_checkers import type_checkers
from commonhold.diagnostics.versioning import git
from commonhold.diagnostics.workers import workers
from commonhold.kernel.errors import Code, CommonholdError, StoreError, UsageError
from commonhold.kernel.texts import counted
from commonhold.stores.reset_events import last_reset
from commonhold.workspace.repository import Repository, find_repository

# Of no consequence to anything that Commonhold does.
_MERE_FACTS: Final = frozenset({"user namespaces", "overlayfs"})
Folder = tuple[Repository | None, Finding | None]


@click.command(
    "doctor",
    cls=Command,
    examples=("commonhold doctor", "commonhold doctor --compact --before 90d --export old-events.jsonl"),
)
@click.option("--recover", is_flag=True, help="Take back commits that a crash interrupted.")
@click.option("--reset-state", is_flag=True, help="Go on after the state database was lost: end all leases.")
@click.option("--prune", is_flag=True, help="Forget kept bytes and events whose retention is over.")
@click.option("--compact", is_flag=True, help="Replace the oldest events by a snapshot of the state.")
@click.option(
    "--before", metavar="WHEN", help="With --compact: only events that are older; a duration ago (90d), or a time."
)
@click.option("--export", metavar="FILE", shell_complete=files, help="With --compact: write those events here first.")
@common
@click.pass_obj
def command(
    given: Given,
    *,
    recover: bool,
    reset_state: bool,
    prune: bool,
    compact: bool,
    before: str | None,
    export: str | None,
) -> int:
    """Check this machine, this repository and its state. Fit to be pasted into a report.

    Nothing is changed, unless --recover, --reset-state, --prune or --compact says so. The exit code is 4 if any check
    fails.

    --reset-state is for a state database that was deleted, or restored from an older copy: commonhold goes on with the
    one that is there, or a new one, ends all leases in it, and gives out no fence a second time. It does nothing to a
    state that is whole.

    --compact deletes old events: those before WHEN, else those older than the setting event_days, else all that nothing
    needs. Events stay as long as an undo, an open debt or a live lease needs them. No state changes, and the chain of
    hashes goes on. Others work on meanwhile.
    """
    if (before is not None or export is not None) and not compact:
        raise UsageError(Code.USAGE, "--before and --export belong to --compact", hint="add --compact")
    mends = (("reset", _reset, reset_state), ("recover", _recover, recover), ("prune", _prune, prune))
    tried = [_tried(name, mend, given) for name, mend, is_asked in mends if is_asked]
    if compact:
        tried += _compact(given, None if before is None else instant_of(before), export)
    findings = [*tried, *map(_plain, _findings(given))]
    answer(given, findings, _shape, _lines)
    return DONE if _are_sound(findings) else FAMILIES[StoreError]


def _are_sound(findings: Sequence[Finding]) -> bool:
    return all(finding.level is not Level.FAIL for finding in findings)


def _findings(given: Given) -> Iterator[Finding]:
    yield ok("commonhold", commonhold.__version__)
    yield from machine()
    repository, trouble = _repository(given)
    yield from git(repository)
    if trouble is not None:
        yield trouble
    if repository is not None:
        yield from _settings(repository.root, given)
        yield from _state(repository)
        yield from agents(repository)
    yield ok("agent", agent_of(given) or "no name given (needed to acquire and to commit: --agent or COMMONHOLD_AGENT)")


def _plain(finding: Finding) -> Finding:
    """The bare fact: without its consequences, and with only a few of many paths."""
    if finding.check in _MERE_FACTS:
        return replace(finding, found="not available" if "not available" in finding.found else "available")
    paths = finding.facts.get("paths")
    if isinstance(paths, list) and paths:
        return replace(finding, found=finding.found.replace(", ".join(paths), some(paths)))
    return finding


def _repository(given: Given) -> Folder:
    try:
        return find_repository(start_of(given)), None
    except CommonholdError as fault:
        return None, _failed("repository", fault)
    except OSError as fault:
        return None, fail("repository", f"cannot be looked at: {fault}", "fix its permissions")


def _settings(root: str, given: Given) -> Iterator[Finding]:
    try:
        settings = load_settings(root, store=given.store)
    except CommonholdError as fault:
        yield _failed("settings", fault)
        return
    chosen = [each for each in settings_of(root, given.store) if not each.is_default]
    words = (f"{each.name} = {told(each.name, each.value)} ({each.origin})" for each in chosen)
    yield ok("settings", f"{', '.join(words) or 'all are the defaults'}; commonhold config lists all")
    if settings.store:
        yield from _shared_store(root, settings, told("store", settings.store), given)
    if settings.types == "on":
        yield from type_checkers(os.environ)


def _state(repository: Repository) -> Iterator[Finding]:
    """The findings about the state; a daemon that holds the gate is in order."""
    pid = pid_of(repository)
    if not os.path.lexists(repository.state_folder) or can_be_entered(repository.state_folder):
        yield serving(repository.state_folder, pid)
        yield from over_http(repository.state_folder, pid)
        yield log(repository.state_folder)
    for finding in state(repository.state_folder):
        is_expected = pid is not None and (finding.check, finding.level) == ("gate", Level.WARN)
        yield ok("gate", "held by the daemon, for as long as it lives") if is_expected else finding


def _shared_store(root: str, settings: Settings, name: str, given: Given) -> Iterator[Finding]:
    # Loaded here: without a shared store it is not needed.
    from commonhold.bootstrap import registry_of  # noqa: PLC0415

    try:
        with opened(given) as place:
            held = place.hold.leases()
        with closing(registry_of(find_repository(root), settings)) as registry, registry.read() as view:
            reset = last_reset(view)
    except CommonholdError as fault:
        yield _failed("store", fault)
        return
    yield ok("store", f"{name} answers; {counted(len(held), 'live lease')}")
    yield from workers(held, settings.broker)
    yield from restored(reset, is_server=True)


def _failed(check: str, fault: CommonholdError) -> Finding:
    return fail(check, f"{fault.message} [{fault.code}]", fault.hint)


def _tried(name: str, mend: Callable[[Given], Finding], given: Given) -> Finding:
    try:
        return mend(given)
    except CommonholdError as fault:
        return _failed(name, fault)


def _reset(given: Given) -> Finding:
    # Loaded here: usually nothing is reset.
    from commonhold.bootstrap import reset_state  # noqa: PLC0415
    from commonhold.client.daemon import stop, wait_until_gone  # noqa: PLC0415

    repository = find_repository(start_of(given))
    pid = stop(repository)
    if pid is not None:
        wait_until_gone(repository, pid)
    if reset_state(repository, agent_of(given) or "doctor"):
        return ok("reset", "all leases are ended, and fences go on above all that were given: restart open sessions")
    return ok("reset", "not needed: no event is missing in the state")


def _recover(given: Given) -> Finding:
    with opened(given) as place:
        undone = place.hold.recover()
    restored = [path for event in undone for path in event.restored]
    left = [path for event in undone for path in event.left]
    found = f"{counted(len(undone), 'interrupted commit')} taken back"
    files = f": {some(restored)} put back" if restored else ""
    others = f"; {some(left)} left as they are, since they were changed meanwhile" if left else ""
    return ok("recover", found + files + others, restored=restored, left=left)


def _prune(given: Given) -> Finding:
    with opened(given) as place:
        place.hold.apply_retention()
    return ok("prune", "kept bytes and answers whose time is over are forgotten")


def _compact(given: Given, before: float | None, export: str | None) -> Iterator[Finding]:
    # Loaded here: it is seldom done.
    from commonhold.cli.compacting import described, export_events, logs  # noqa: PLC0415

    try:
        with opened(given) as place:
            for log in logs(given, export):
                found = place.hold.compact_log(before=before, shared=log.is_shared, dry_run=True)
                if found.events:
                    export_events(place, log, found)
                    last, path = found.last, log.export
                    found = place.hold.compact_log(before=before, last=last, export=path, shared=log.is_shared)
                yield described(log, found)
    except CommonholdError as fault:
        yield _failed("compact", fault)


def _shape(findings: Sequence[Finding]) -> Json:
    outcome = "sound" if _are_sound(findings) else "failing"
    return {"outcome": outcome, "findings": [asdict(finding) for finding in findings]}


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        yield f"{finding.level.value:<5} {finding.check:<16} {shown(finding.found)}"
        if finding.mend:
            yield f"{'':<22} fix: {shown(finding.mend)}"
    yield _conclusion(findings)


def _conclusion(findings: Sequence[Finding]) -> str:
    if not _are_sound(findings):
        return "something fails: see above"
    wanting = [finding.check for finding in findings if finding.level is Level.WARN]
    return f"it works, but look at: {', '.join(wanting)}" if wanting else "all is well"
