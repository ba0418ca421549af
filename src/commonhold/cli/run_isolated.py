"""`commonhold run --isolated`: the coordinator of a run whose items managed sessions do, and its merge queue."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from commonhold.agents.headless import HEADLESS, PROMPT_FILE
from commonhold.agents.prompt_editor import session_prompt
from commonhold.cli.common_options import Given, start_of
from commonhold.cli.opening import Place
from commonhold.cli.output import complain
from commonhold.cli.queue_running import merge_queue
from commonhold.cli.run_options import RunOptions
from commonhold.cli.run_roles import Notes
from commonhold.cli.session_starting import see_to_daemon
from commonhold.cli.workspace_options import UNUSED_WORKSPACE, workspace_of
from commonhold.client.opening import open_session
from commonhold.coordinator.command_roles import CommandRole
from commonhold.coordinator.isolated_run import Isolated, IsolatedCoordinator, sessions_of
from commonhold.kernel.errors import Code, UsageError
from commonhold.machine.system import RandomIds
from commonhold.sessions.options import SessionOptions
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.reachability import GitRevisions

_BATCH: Final = 8


@contextmanager
def isolated_coordinator(
    given: Given, place: Place, options: RunOptions, seconds: float
) -> Iterator[IsolatedCoordinator]:
    """Yield the coordinator, whose sessions take `seconds` a turn. Raises UsageError, InputError."""
    agent = options["editor"] or ""
    if agent not in HEADLESS and PROMPT_FILE not in agent:
        raise UsageError(
            Code.USAGE,
            f"an isolated run starts an agent for each task, and {agent[:60]!r} is none",
            hint=f"--editor 'COMMAND {PROMPT_FILE}'; known agents: {', '.join(HEADLESS)}",
        )
    if not options["checks"]:
        complain("notice: without --check, a merge that is proven lands untested unless its task names a check")
    see_to_daemon(place.hold.root)
    notes = Notes(place.hold)
    notes((), "")  # before there are threads: they would load the parts of the archive beside those of the queue
    isolated = Isolated(
        agent,
        options["editors"],
        _session_options(place, options, seconds),
        partial(session_prompt, find=notes),
    )
    planner = CommandRole(options["planner"], seconds) if options["planner"] else None
    branch = _branch(place, options)
    # A name of its own: leases of one session do not exclude each other.
    with open_session(start_of(given), agent=RandomIds().new("queue"), store=given.store) as hold:
        queue = merge_queue(
            given,
            hold,
            branch,
            options["ttl_seconds"],
            lambda _: None,
            {
                "checks": options["checks"],
                "deadline": options["deadline"],
                "batch": _BATCH,
                "remote": "",
                "is_parallel": False,
            },
            is_quiet=True,
        )
        yield IsolatedCoordinator(place.hold, queue, isolated, planner, options["ttl_seconds"])


def _branch(place: Place, options: RunOptions) -> str:
    """Return the branch that the work lands on: of a run that is resumed that of its tasks, else the present one."""
    items = place.hold.runs(options["resume"]).runs[0].items if options["resume"] else ()
    return items[0].task.task.target if items else GitRevisions(Git(place.hold.root)).branch()


def _session_options(place: Place, options: RunOptions, seconds: float) -> SessionOptions:
    """Return the options of the sessions: of a run that is resumed, without any given anew, those that it had."""
    given = dict(options)
    if options["resume"] and all(given[name] == usual for name, usual in UNUSED_WORKSPACE.items()):
        view = place.hold.runs(options["resume"]).runs[0]
        known = [*sessions_of(place.hold, view.run, view.items).values()]
        if known:
            before = max((each.record for each in known), key=lambda each: each.number).session
            return {
                "setup": before.setup,
                "teardown": before.teardown,
                "sandbox": before.sandbox,
                "network": before.network,
                "exposed": before.exposed,
                "memory_bytes": before.memory_bytes,
                "cpus": before.cpus,
                "timeout_seconds": seconds,
            }
    return {**workspace_of(options), "timeout_seconds": seconds}
