"""`commonhold commit`: write a change if it still fits."""

import shlex
from dataclasses import replace
from typing import Final, TypedDict, Unpack

import click

from commonhold.api.wire import shapes
from commonhold.cli import verdict
from commonhold.cli.changeset_input import read_changeset, read_stdin
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common, request_option
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.ids import lease_id
from commonhold.cli.opening import Place, agent_of, opened
from commonhold.cli.output import answer
from commonhold.cli.usage_words import NAME_IT
from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.keys import parse

_MAX_FENCE_DIGITS: Final = 18


class _LeaseType(click.ParamType[LeaseRef]):
    """ID:FENCE."""

    name = "lease"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> LeaseRef:
        lease_id, _, fence = value.rpartition(":")
        if not lease_id or not (fence.isascii() and fence.isdigit() and len(fence) <= _MAX_FENCE_DIGITS):
            self.fail(f"{value!r} is not ID:FENCE; `commonhold leases` shows both", param, ctx)
        return LeaseRef(lease_id, int(fence))


class _Wish(TypedDict):
    changeset: str | None
    key: str | None
    base: str | None
    after: str | None
    span: int | None
    insert: bool
    delete: bool
    create: bool
    intent: str
    no_merge: bool
    leases: tuple[LeaseRef, ...]
    request_id: str | None


@click.command(
    "commit",
    cls=Command,
    examples=(
        'commonhold commit --key src/prices.py#total --base "$base" --intent "round to cents" < total.py',
        "commonhold commit --changeset change.json --dry-run",
    ),
)
@click.option("--changeset", metavar="FILE", shell_complete=files, help="A changeset in JSON; - for standard input.")
@click.option(
    *("--key", "key"),
    metavar="KEY",
    shell_complete=files,
    help="The region or file to change; its new text comes from standard input.",
)
@click.option("--base", metavar="HASH", help="The hash of the text on which the change is based (16 digits or more).")
@click.option("--insert", is_flag=True, help="KEY is a new region.")
@click.option("--after", metavar="KEY", help="Insert after this region of the same file; default: at the end.")
@click.option("--create", is_flag=True, help="KEY is a new file.")
@click.option("--delete", is_flag=True, help="Remove KEY, region or file; nothing is read.")
@click.option("--span", metavar="N", type=click.IntRange(min=0), help="Which span of a header, counted from 0.")
@click.option("--intent", metavar="TEXT", default="", help="The purpose of the change, which others see.")
@click.option(
    *("--lease", "leases"),
    metavar="ID:FENCE",
    multiple=True,
    type=_LeaseType(),
    help="A lease that must still be yours when the change is written; may be repeated.",
)
@click.option("--no-merge", is_flag=True, help="Refuse the change rather than merge it with later changes by others.")
@click.option("--dry-run", is_flag=True, help="Only give the verdict; write nothing.")
@request_option
@common
@click.pass_obj
def command(given: Given, *, dry_run: bool, **wish: Unpack[_Wish]) -> int:
    """Write a change, all of it or nothing, if the text it was made for has not changed, or both changes can be merged.

    Changes are merged only if the result is proven correct; the answer then shows the merged text. Otherwise the change
    is refused, with the current text, what changed and by whom, and the next call to make.
    """
    _check_holder(given)
    with opened(given) as place:
        wish["leases"] = tuple(replace(each, id=lease_id(place, each.id)) for each in wish["leases"])
        changeset = _changeset(place, wish)
        found = place.hold.commit(changeset, dry_run=dry_run)
    answer(given, found, shapes.commit, lambda found: verdict.committed(found, changeset, place, given))
    return REFUSED if found.outcome == "refused" else DONE


def _check_holder(given: Given) -> None:
    """Check before reading standard input: a person should not type a text that cannot be committed."""
    if not (agent_of(given) or "").strip():
        raise UsageError(
            Code.HOLDER_MISSING,
            "this needs a session name, so that others see whose change it is",
            hint=NAME_IT,
        )


def _changeset(place: Place, wish: _Wish) -> Changeset:
    if (wish["changeset"] is None) == (wish["key"] is None):
        raise UsageError(
            Code.USAGE, "a commit is either --changeset FILE or --key KEY", hint="see `commonhold commit --help`"
        )
    if wish["key"] is not None:
        edit = _edit(place, wish["key"], wish)
        return Changeset((edit,), wish["intent"], wish["request_id"], wish["leases"], merge=not wish["no_merge"])
    return _completed(_named(place, read_changeset(wish["changeset"] or "")), wish)


def _named(place: Place, changeset: Changeset) -> Changeset:
    """Return the changeset without names of modules: as words of a command they would be paths first."""
    named = place.key_from_root
    edits = (replace(each, key=named(each.key), after=each.after and named(each.after)) for each in changeset.edits)
    return replace(changeset, edits=tuple(edits))


def _completed(changeset: Changeset, wish: _Wish) -> Changeset:
    """Return the changeset of a file, with additions from the options."""
    names = ("base", "after", "insert", "create", "delete", "span")
    extra = [f"--{name}" for name in names if _is_given(wish.get(name))]
    if extra:
        raise UsageError(
            Code.USAGE, f"{extra[0]} goes with --key", hint="say it in the changeset instead, in the edit it is about"
        )
    return replace(
        changeset,
        intent=wish["intent"] or changeset.intent,
        request_id=wish["request_id"] or changeset.request_id,
        leases=(*changeset.leases, *wish["leases"]),
        merge=changeset.merge and not wish["no_merge"],
    )


def _is_given(value: object) -> bool:
    # By identity: span 0 equals False.
    return value is not None and value is not False


def _edit(place: Place, typed: str, wish: _Wish) -> Edit:
    key = place.key(typed)
    after = place.key(wish["after"]) if wish["after"] is not None else None
    op = _op(key, wish)
    if op in (Op.REPLACE, Op.DELETE, Op.DELETE_FILE) and wish["base"] is None:
        raise UsageError(
            Code.USAGE,
            "--base is missing, so the change cannot be compared with the current text",
            hint=f"`commonhold show {shlex.quote(typed)}` gives text and hash; --insert and --create need no base",
        )
    edit = Edit(op, key, base=wish["base"], after=after, span=wish["span"])
    return edit if op in (Op.DELETE, Op.DELETE_FILE) else _with_text(edit)


def _op(key: str, wish: _Wish) -> Op:
    chosen = [name for name in ("insert", "create", "delete") if wish.get(name)]
    match chosen:
        case []:
            return Op.REPLACE
        case ["insert"]:
            return Op.INSERT
        case ["create"]:
            return Op.CREATE_FILE
        case ["delete"]:
            return Op.DELETE if parse(key).names else Op.DELETE_FILE
        case _:
            raise UsageError(Code.USAGE, f"--{chosen[0]} and --{chosen[1]} exclude each other", hint="choose one")


def _with_text(edit: Edit) -> Edit:
    data = read_stdin("the new text")
    if not data:
        raise UsageError(
            Code.USAGE,
            "standard input is empty, so there is no new text",
            hint='pipe the new text in: < FILE; to empty a file on purpose, give a changeset with "text": ""',
        )
    try:
        return replace(edit, text=data.decode())
    except UnicodeDecodeError as fault:
        if not parse(edit.key).names:
            return replace(edit, data=data)
        raise InputError(
            Code.ENCODING_INVALID,
            f"the new text of {edit.key} is not valid UTF-8 (byte {fault.start})",
            hint="convert it to UTF-8; only a whole file may be bytes that are no text",
            fields={"key": edit.key, "byte": fault.start},
        ) from fault
