"""`commonhold worker`: run managed sessions on this machine, for all that share the store."""

import signal
import socket
import threading
from functools import partial

import click

from commonhold.cli.command import Command
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.config import told
from commonhold.cli.exit_status import DONE
from commonhold.cli.output import flush, say, send_json
from commonhold.config import load_settings
from commonhold.kernel.errors import Code, UsageError
from commonhold.workspace.repository import find_repository


@click.command(
    "worker", cls=Command, examples=("commonhold worker", "COMMONHOLD_BROKER=redis://HOST commonhold worker")
)
@common
@click.pass_obj
def command(given: Given) -> int:
    """Run managed sessions on this machine until Ctrl-C: its own, and those started with `--remote` anywhere.

    All machines name one PostgreSQL in the setting `store` and one namespace, and have a clone of the repository with
    the git remote of the session. A worker runs at most `max_sessions` at once. It looks at the queue every five
    seconds; with the setting `broker` (Redis or RabbitMQ) it is woken by Celery as soon as a session is started. Its
    sessions go on when it ends: the next one takes over. `commonhold help sessions` says more.
    """
    # Loaded here: `commonhold worker --help` needs none of it.
    from commonhold.bootstrap import compose, name_of  # noqa: PLC0415
    from commonhold.client.opening import open_beside_daemon  # noqa: PLC0415
    from commonhold.machine.log_output import log_to_standard_error  # noqa: PLC0415
    from commonhold.machine.system import RandomIds  # noqa: PLC0415
    from commonhold.server.daemon.managed_sessions import SessionEngine  # noqa: PLC0415
    from commonhold.server.session_worker import listen, work  # noqa: PLC0415
    from commonhold.sessions.wakes import check_celery, receive_wakes  # noqa: PLC0415

    repository = find_repository(start_of(given))
    settings = load_settings(repository.root)
    if given.store:
        hint = f"set it for them, too: COMMONHOLD_STORE={given.store} commonhold worker"
        raise UsageError(Code.USAGE, "the sessions of a worker do not get its --store", hint=hint)
    service = compose(repository, settings)
    if not service.session_queue.is_shared:
        raise UsageError(
            Code.USAGE,
            "a worker needs a store that machines share, and the setting `store` names no PostgreSQL",
            hint="see how to name one: commonhold config store",
        )
    if settings.broker:
        check_celery()
    if given.log_level is None:
        log_to_standard_error(settings.log, "", with_libraries=True)
    namespace, host = settings.namespace or name_of(repository), socket.gethostname()
    woken, is_over = threading.Event(), threading.Event()

    def end(*_: object) -> None:
        is_over.set()
        woken.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    with open_beside_daemon(repository.root, RandomIds().new("worker")) as hold:
        if settings.broker:
            listen(partial(receive_wakes, settings.broker, namespace, woken.set))
        by = told("broker", settings.broker) if settings.broker else None
        if given.as_json:
            send_json({"host": host, "namespace": namespace, "broker": by, "max_sessions": settings.max_sessions})
        else:
            woken_by = f"woken by {by}" if by else "looks every five seconds; the setting `broker` makes that faster"
            say([f"worker of {host} runs sessions of {namespace}: {woken_by}"])
        flush()
        work(SessionEngine(repository, lambda: service, takes_any=True), hold, host, woken, is_over)
    return DONE
