"""`commonhold token`: the access tokens of clients over HTTP."""

from typing import Final

import click

from commonhold.api.wire.instants import instant
from commonhold.api.wire.text import Json
from commonhold.cli.command import Command, Group
from commonhold.cli.common_options import Given, common, start_of
from commonhold.cli.exit_status import DONE
from commonhold.cli.output import answer, shown
from commonhold.kernel import texts
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.scopes import Scope
from commonhold.machine.system import SystemClock
from commonhold.workspace import tokens
from commonhold.workspace.repository import find_repository
from commonhold.workspace.tokens import Token

DAY_SECONDS: Final = 86_400
_EXAMPLES: Final = (
    "commonhold token issue --scope agent --label laptop",
    "commonhold token list",
    "commonhold token revoke 3f9a6c1e",
)


@click.group("token", cls=Group, examples=_EXAMPLES)
@common
def command() -> None:
    """Give clients access over HTTP (`commonhold serve`): a token is for this repository, and for one scope.

    observer looks at the state, files and events; agent works as a session: leases, commits, tasks; reviewer reviews
    partial work, waives debts and breaks leases; admin may do everything. Agent and reviewer include observer. Only the
    hash of a token is kept. Programs of yours on this machine need none.
    """


@command.command(
    "issue",
    cls=Command,
    examples=(
        "commonhold token issue --scope agent --label laptop",
        "commonhold token issue --scope observer --days 7",
        "commonhold token issue --scope admin --once",
    ),
)
@click.option(
    "--scope",
    type=click.Choice([each.value for each in Scope]),
    default=Scope.AGENT.value,
    show_default=True,
    help="What its bearer may do.",
)
@click.option("--label", metavar="TEXT", default="", help="Whose it is; the list shows it.")
@click.option(
    *("--holder", "holder"),
    metavar="NAME",
    help="Act as the session NAME, and its subagents NAME/..., only; default: in any name.",
)
@click.option("--days", metavar="N", type=click.FloatRange(0, 3650, min_open=True), help="Expire after N days.")
@click.option("--once", is_flag=True, help="It only signs one browser in to the dashboard, within 10 minutes.")
@common
@click.pass_obj
def _issue(given: Given, scope: str, label: str, holder: str | None, days: float | None, *, once: bool) -> int:
    """Make a token and print it. It cannot be shown again."""
    texts.check_line(label, "label")
    if holder is not None:
        texts.check_holder(holder)
    if once and days is not None:
        raise UsageError(Code.USAGE, "a token with --once lasts 10 minutes", hint="leave --days out")
    ttl = tokens.LINK_SECONDS if once else None if days is None else days * DAY_SECONDS
    token, text = tokens.issue(_folder(given), Scope(scope), _now(), label=label, holder=holder, ttl=ttl, is_once=once)
    answer(given, token, lambda each: {"token": text, **_shape(each)}, lambda _: text)
    return DONE


@command.command("list", cls=Command, examples=("commonhold token list",))
@common
@click.pass_obj
def _list(given: Given) -> int:
    """List the tokens, the oldest first: id, scope, and whose it is."""
    found = tokens.tokens(_folder(given))
    answer(given, found, lambda known: {"tokens": [_shape(each) for each in known]}, _described)
    return DONE


@command.command("revoke", cls=Command, examples=("commonhold token revoke 3f9a6c1e",))
@click.argument("id_", metavar="ID")
@common
@click.pass_obj
def _revoke(given: Given, id_: str) -> int:
    """Make the token with this ID invalid: for requests at once, for open streams within some seconds."""
    revoked = tokens.revoke(_folder(given), id_)
    answer(given, revoked, lambda each: {"revoked": _shape(each)}, lambda each: f"revoked {_line(each)}")
    return DONE


def _described(known: tuple[Token, ...]) -> list[str]:
    return [_line(each) for each in known] or ["there are no access tokens; make one: commonhold token issue"]


def _line(token: Token) -> str:
    parts = [token.id, token.scope, shown(token.label), f"for {shown(token.holder)}" if token.holder else ""]
    parts.append("signs one browser in" if token.is_once else f"by {token.parent}" if token.parent else "")
    if token.expires_at is not None:
        parts.append(f"{'until' if token.is_valid(_now()) else 'expired'} {instant(token.expires_at)}")
    return "  ".join(each for each in parts if each)


def _shape(token: Token) -> Json:
    return {
        "id": token.id,
        "scope": token.scope.value,
        "label": token.label,
        "holder": token.holder,
        "once": token.is_once,
        "parent": token.parent or None,
        "issued_at": instant(token.issued_at),
        "expires_at": None if token.expires_at is None else instant(token.expires_at),
    }


def _folder(given: Given) -> str:
    return find_repository(start_of(given)).state_folder


def _now() -> float:
    return SystemClock().now().wall
