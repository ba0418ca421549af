"""`commonhold merge-file`: three versions of a file become one, or conflict markers where the merge is unproven."""

import os
from collections.abc import Sequence
from typing import Final, TypedDict, Unpack

import click

from commonhold.cli.check_options import check_options, ended_as_by_ctrl_c
from commonhold.cli.command import Command, files
from commonhold.cli.common_options import Given, common
from commonhold.cli.exit_status import DONE, REFUSED
from commonhold.cli.merge_words import file_hint, file_merged
from commonhold.cli.output import complain, say, send, send_json
from commonhold.kernel.errors import Code, InputError, StoreError, UsageError
from commonhold.machine.file_replacement import replace_file
from commonhold.merging.branches.candidate_verification import Trial
from commonhold.merging.branches.merge_file import FileMerge, merge_file
from commonhold.merging.verdict import USUAL_MARKER_SIZE, Sides, Verdict

STDOUT: Final = "-"
# Placeholders that a git older than 2.44 does not replace.
_UNNAMED: Final = ("", "%S", "%X", "%Y")


class _Wish(TypedDict):
    path: str
    base: str
    ours: str
    theirs: str
    out: str
    check: str | None
    seconds: float
    label_base: str
    label_ours: str
    label_theirs: str
    marker_size: int


@click.command(
    "merge-file",
    cls=Command,
    examples=(
        "commonhold merge-file --path src/prices.py base.py ours.py theirs.py --out merged.py",
        "commonhold merge-file --path src/prices.py --check 'pytest -q' base.py ours.py theirs.py --out ours.py",
    ),
)
@click.option(
    "--path",
    metavar="PATH",
    required=True,
    shell_complete=files,
    help="The path of the file in the project: it determines the language, and where the check finds it.",
)
@click.argument("base", metavar="BASE", shell_complete=files)
@click.argument("ours", metavar="OURS", shell_complete=files)
@click.argument("theirs", metavar="THEIRS", shell_complete=files)
@click.option(
    "--out",
    metavar="FILE",
    default=STDOUT,
    show_default=True,
    shell_complete=files,
    help="Where the merged text goes, or, if it is refused, the text with conflict markers; may be OURS.",
)
@check_options
@click.option("--label-base", metavar="TEXT", default="", help="What BASE is called: git says it; no marker does.")
@click.option("--label-ours", metavar="TEXT", default="", help="What OURS is called.")
@click.option("--label-theirs", metavar="TEXT", default="", help="What THEIRS is called.")
@click.option(
    "--marker-size",
    metavar="N",
    type=click.IntRange(min=1),
    default=USUAL_MARKER_SIZE,
    show_default=True,
    help="How long conflict markers are.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print refusals only.")
@common
@click.pass_obj
def command(given: Given, *, quiet: bool, **wish: Unpack[_Wish]) -> int:
    """Merge what OURS and THEIRS made of BASE.

    PROVEN: the structure shows what both mean. VERIFIED: it does not, but a candidate passes --check. REFUSED: neither;
    the exit code is 1, and FILE gets everything merged that can be and markers at the rest. Whatever is not there on
    one side is given as an empty file. On an error FILE is not touched.
    """
    if not wish["path"]:
        raise UsageError(Code.USAGE, "--path is empty", hint="name the file as it is called in the project")
    base, ours, theirs = (_read(given, name) for name in (wish["base"], wish["ours"], wish["theirs"]))
    sides = _sides(wish)
    path, trial = _trial(given, wish) if wish["check"] else (wish["path"], None)
    with ended_as_by_ctrl_c():
        merged = merge_file(base, ours, theirs, path, sides=sides, trial=trial)
    text = merged.marked if merged.source is None else merged.source
    if text is not None and wish["out"] != STDOUT:
        replace_file(_place(given, wish["out"]), text)
    _tell(given, merged, text, wish["out"], is_quiet=quiet)
    return REFUSED if merged.verdict is Verdict.REFUSED else DONE


def _place(given: Given, name: str) -> str:
    return os.path.join(given.folder or "", name)  # noqa: PTH118 - a name, as the user gave it


def _read(given: Given, name: str) -> bytes:
    try:
        with open(_place(given, name), "rb") as file:  # noqa: PTH123 - as above
            return file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as fault:
        raise InputError(
            Code.NOT_A_FILE if isinstance(fault, IsADirectoryError) else Code.FILE_NOT_FOUND,
            f"{name!r} is no file that can be read: {fault.strerror}",
            hint="name three files; for a version that does not exist give an empty file, such as /dev/null",
            fields={"path": name},
        ) from fault
    except PermissionError as fault:
        hint = "fix its permissions, then repeat the call"
        raise StoreError(Code.PERMISSION_DENIED, f"this user may not read {name!r}", hint=hint) from fault


def _sides(wish: _Wish) -> Sides:
    usual = Sides()
    return Sides(
        _label(wish["label_ours"], usual.ours),
        _label(wish["label_theirs"], usual.theirs),
        wish["marker_size"],
    )


def _label(label: str, usual: str) -> str:
    """A label in one line of valid text."""
    if label in _UNNAMED:
        return usual
    return " ".join(label.encode("utf-8", "surrogateescape").decode("utf-8", "replace").split()) or usual


def _trial(given: Given, wish: _Wish) -> tuple[str, Trial]:
    # Loaded here: a git driver, which has no check, must start fast.
    from commonhold.cli.scratch import trial_of_file  # noqa: PLC0415

    return trial_of_file(_place(given, wish["path"]), wish["check"] or "", wish["seconds"])


def _tell(given: Given, merged: FileMerge, text: bytes | None, out: str, *, is_quiet: bool) -> None:
    if given.as_json:
        send_json(_shape(merged, text, out))
        return
    if out == STDOUT and text is not None:
        send(text)
    if is_quiet and merged.verdict is not Verdict.REFUSED:
        return
    # While it merges, git calls the file by a temporary name, which no reader knows.
    lines = [*file_merged(merged), *_next(merged, merged.path if is_quiet else out)]
    if out == STDOUT or is_quiet:
        complain(lines)
    else:
        say(lines)


def _next(merged: FileMerge, out: str) -> Sequence[str]:
    # As the settings of git's driver and of its merge tool call it.
    hint = file_hint(merged, out, is_by_git=out == merged.path)
    return [f"next: {hint}"] if merged.verdict is Verdict.REFUSED else []


def _shape(merged: FileMerge, text: bytes | None, out: str) -> dict[str, object]:
    # Loaded here, as above.
    from commonhold.api.wire.merge_shapes import file_merge  # noqa: PLC0415

    shape = file_merge(merged)
    hint = file_hint(merged, out) if merged.verdict is Verdict.REFUSED else None
    return {**shape, "text": _text(text) if out == STDOUT else None, "hint": hint}


def _text(text: bytes | None) -> str | None:
    return None if text is None else text.decode("utf-8", "backslashreplace")
