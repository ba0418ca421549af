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
from commonhold.cli.workspace_options import workspace_of
from commonhold.client.opening import open_session
from commonhold.coordinator.command_roles import CommandRole
from commonhold.coordinator.isolated_run import Isolated, IsolatedCoordinator
from commonhold.kernel.errors import Code, UsageError
from commonhold.machine.system import RandomIds
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
    isolated = Isolated(
        agent,
        options["editors"],
        {**workspace_of(options), "timeout_seconds": seconds},
        partial(session_prompt, find=Notes(place.hold)),
    )
    planner = CommandRole(options["planner"], seconds) if options["planner"] else None
    branch = GitRevisions(Git(place.hold.root)).branch()
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
