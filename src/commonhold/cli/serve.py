"""`commonhold serve`: the daemon, in the foreground, with an entrance for clients over HTTP."""

import ipaddress
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import click

from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.daemon import check_not_masked, check_unserved
from commonhold.cli.exit_status import DONE
from commonhold.cli.output import complain, flush, is_terminal, say, send_json
from commonhold.client import daemon
from commonhold.kernel.errors import Code, StoreError, UsageError
from commonhold.kernel.scopes import Scope
from commonhold.machine.system import SystemClock
from commonhold.server.daemon import lifetime
from commonhold.server.face import DEFAULT_HOST, DEFAULT_PORT, DEFAULT_RATE, Face, OpenFace, listen
from commonhold.workspace.loopback import MAX_PORT
from commonhold.workspace.repository import Repository, find_repository
from commonhold.workspace.tokens import LINK_SECONDS, issue, tokens

MOST_TRIES: Final = 5
"""A command that runs meanwhile may start a daemon of its own between the end of the last one and this one."""
_TLS: Final = ("tls_cert", "tls_key")


@click.command(
    "serve",
    cls=Command,
    examples=(
        "commonhold serve",
        "commonhold serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --allow-host build.example.org",
    ),
)
@click.option("--host", metavar="HOST", default=DEFAULT_HOST, show_default=True, help="The address to listen at.")
@click.option(
    *("--port", "port"),
    metavar="PORT",
    type=click.IntRange(0, MAX_PORT),
    default=DEFAULT_PORT,
    show_default=True,
    help="The port to listen at; 0 is any free one.",
)
@click.option("--tls-cert", metavar="FILE", shell_complete=files, help="The certificate chain, in PEM form.")
@click.option("--tls-key", metavar="FILE", shell_complete=files, help="The private key of the certificate.")
@click.option(
    *("--allow-host", "hosts"),
    metavar="NAME",
    multiple=True,
    help="A name by which clients call this server, besides its addresses; may be repeated.",
)
@click.option(
    *("--rate", "rate"),
    metavar="N",
    type=click.FloatRange(1, 100_000),
    default=DEFAULT_RATE,
    show_default=True,
    help="Accept N requests a second from the bearer of a token.",
)
@click.option("--insecure", is_flag=True, help="Listen to other machines without TLS: a proxy in front encrypts.")
@common
@click.pass_obj
def command(given: Given, /, *, hosts: tuple[str, ...], insecure: bool, **choices: object) -> int:
    """Serve this repository over HTTP until Ctrl-C: the operations, streams of events, health and metrics.

    It takes the place of the repository's daemon, which it is, too: hooks and commands on this machine use it, without
    a token. Clients over the network need one from `commonhold token issue`. In a terminal it prints a link that signs
    your browser in to the dashboard. `commonhold help server` describes the interface, `commonhold help dashboard` the
    dashboard, `commonhold help security` what protects both.
    """
    face = _face(hosts, choices)
    _check_private(face, is_consented=insecure)
    check_not_masked()
    repository = find_repository(start_of(given))
    check_unserved(repository)
    opened = listen(face)
    life = _begin(repository, opened)
    _tell(given, repository, opened)
    lifetime.run(life)
    return DONE


def _face(hosts: tuple[str, ...], choices: dict[str, object]) -> Face:
    """Return the choices of this command. Raises UsageError for half a certificate."""
    certificate, key = (None if each is None else str(Path(str(each)).resolve()) for each in map(choices.get, _TLS))
    if (certificate is None) != (key is None):
        raise UsageError(
            Code.USAGE, "TLS needs a certificate and its key", hint="give both: --tls-cert FILE --tls-key FILE"
        )
    return Face(str(choices["host"]), int(str(choices["port"])), certificate, key, hosts, float(str(choices["rate"])))


def _check_private(face: Face, *, is_consented: bool) -> None:
    """Raise UsageError `ADDRESS_UNSAFE` for an address of other machines without TLS, unless the user consents."""
    is_private = face.host == "localhost"
    with suppress(ValueError):
        is_private = ipaddress.ip_address(face.host).is_loopback
    if not (is_private or is_consented or face.certificate):
        raise UsageError(
            Code.ADDRESS_UNSAFE,
            f"other machines reach {face.host}, and without TLS anyone between could read tokens and files",
            hint="give --tls-cert FILE --tls-key FILE; behind a proxy that encrypts, give --insecure",
            fields={"host": face.host},
        )


def _begin(repository: Repository, opened: OpenFace) -> lifetime.Lifetime:
    """Become the daemon; one that runs already ends first. Raises StoreError."""
    lifetime.begin_logging(repository.root)
    for attempt in range(MOST_TRIES):
        stopped = daemon.stop(repository)
        if stopped is not None and not daemon.wait_until_gone(repository, stopped):
            break
        try:
            return lifetime.Lifetime(repository, lifetime.Times(), lambda: None, opened)
        except StoreError as fault:
            if fault.code is not Code.STORE_OWNED or attempt == MOST_TRIES - 1:
                raise
    raise StoreError(
        Code.STORE_BUSY,
        "the daemon of this repository did not end within 15 seconds",
        hint="it may be in the middle of a large commit, or suspended: wait, then repeat",
        retry_after_seconds=5.0,
    )


def _tell(given: Given, repository: Repository, opened: OpenFace) -> None:
    if given.as_json:
        send_json(
            {"url": opened.url, "root": repository.root, "pid": os.getpid(), "tls": opened.face.scheme == "https"}
        )
        flush()
        return
    say(f"serving {repository.root} at {opened.url}; end it with Ctrl-C")
    if is_terminal():
        # Elsewhere the link would lie in a log, which others may read before its ten minutes are over.
        now = SystemClock().now().wall
        _, text = issue(repository.state_folder, Scope.ADMIN, now, label="browser", ttl=LINK_SECONDS, is_once=True)
        say(f"dashboard: {opened.url}/#{text}")
        say("the link signs in one browser, within 10 minutes; another token: commonhold token issue --once")
    else:
        say(f"dashboard: {opened.url}/; for a token that signs in: commonhold token issue --once")
    if not any(not (each.is_once or each.parent) for each in tokens(repository.state_folder)):
        complain("no client has an access token yet. In another terminal: commonhold token issue --scope agent")
    say(f"try it: curl -H 'Authorization: Bearer TOKEN' {opened.url}/api/v1/status")
    flush()
