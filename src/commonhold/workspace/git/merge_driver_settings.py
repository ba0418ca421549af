"""Configure git to merge with Commonhold: settings of one clone, and, if wished, a line in the shared attributes."""

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.errors import Code, InputError
from commonhold.machine.file_replacement import replace_file
from commonhold.workspace.git.process import Git

NAME: Final = "commonhold"
DEFAULT: Final = "merge.default"
DRIVER: Final = f"merge.{NAME}.driver"
ATTRIBUTES: Final = ".gitattributes"
LINE: Final = b"* merge=commonhold\n"
_BOM: Final = b"\xef\xbb\xbf"
_SETTINGS: Final = rf"^(merge\.default|merge\.{NAME}\..*|mergetool\.{NAME}\..*)$"
# Any failure leaves a conflict: git's own, with its markers, since a file without markers looks as if it were merged.
_DRIVER: Final = (
    "{run} merge-file --quiet --path=%P --marker-size=%L --label-base=%S --label-ours=%X --label-theirs=%Y "
    "--out=%A %O %A %B || {{ test $? = 1 || {{ git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B; "
    "echo 'commonhold could not merge this file: it is left as a conflict, with the markers of git' >&2; }}; exit 1; }}"
)
_TOOL: Final = '{run} merge-file --path="$MERGED" --out="$MERGED" "$BASE" "$LOCAL" "$REMOTE"'


@dataclass(frozen=True, slots=True)
class Change:
    """One setting that is set, replaced or removed: its place, its name, and its value before and after."""

    where: str
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """All differences from the wanted settings, and those that are left alone although they conflict."""

    changes: tuple[Change, ...]
    notices: tuple[str, ...] = ()


def wanted(interpreter: str = sys.executable) -> dict[str, str]:
    """Return the settings. Python must not search for modules near the files that are merged."""
    run = f"{shlex.quote(interpreter)} -P -m commonhold"
    return {
        f"merge.{NAME}.name": "merge proven parts, mark the rest (Commonhold)",
        DRIVER: _DRIVER.format(run=run.replace("%", "%%")),
        # The common ancestor that git makes up is for git alone.
        f"merge.{NAME}.recursive": "text",
        f"mergetool.{NAME}.cmd": _TOOL.format(run=run),
        f"mergetool.{NAME}.trustExitCode": "true",
    }


def interpreter_of(driver: str) -> str:
    """The program that a driver starts."""
    try:
        return shlex.split(driver)[0].replace("%%", "%")
    except (ValueError, IndexError):
        return ""


def present(git: Git) -> Mapping[str, str]:
    """Return the settings that this clone has already."""
    found: dict[str, str] = {}
    for entry in git.run("config", "--local", "-z", "--get-regexp", _SETTINGS).stdout.split(b"\0"):
        name, _, value = os.fsdecode(entry).partition("\n")
        if name:
            found[name] = value
    return found


def to_install(git: Git, *, shared: bool) -> Plan:
    """Return the settings to make. They are `shared` by a line in the attributes; else only this clone has them."""
    there = {name.lower(): value for name, value in present(git).items()}
    wishes = wanted()
    changes = [Change("config", name, there.get(name.lower()), value) for name, value in wishes.items()]
    notices: tuple[str, ...] = ()
    if shared:
        before = _attributes(git)
        changes.append(Change(ATTRIBUTES, LINE.decode().strip(), _line_in(before), LINE.decode().strip()))
    elif there.get(DEFAULT, NAME) == NAME:
        changes.append(Change("config", DEFAULT, there.get(DEFAULT), NAME))
    else:
        notices = (_OTHER_DEFAULT.format(there[DEFAULT]),)
    return Plan(tuple(each for each in changes if each.before != each.after), notices)


_OTHER_DEFAULT: Final = (
    "merge.default is {!r} already and was left so: name this driver where you want it, for example "
    "`*.py merge=commonhold` in .git/info/attributes"
)


def to_uninstall(git: Git, *, shared: bool) -> Plan:
    """Return the settings to remove again: none that anybody else made."""
    there = present(git)
    ours = {name.lower() for name in wanted()}
    # The default goes first: git removes a heading with its last line only if no comment stands above it.
    mine = [DEFAULT] if there.get(DEFAULT) == NAME else []
    mine += [name for name in there if name in ours]
    changes = [Change("config", name, there[name], None) for name in mine]
    if shared and (line := _line_in(_attributes(git))) is not None:
        changes.append(Change(ATTRIBUTES, line, line, None))
    return Plan(tuple(changes))


def carry_out(git: Git, plan: Plan) -> None:
    """Make the changes."""
    for each in plan.changes:
        if each.where == ATTRIBUTES:
            _change_attributes(git, each)
        elif each.after is None:
            git.ask("config", "--local", "--unset-all", each.name)
        else:
            git.ask("config", "--local", "--replace-all", each.name, each.after)
    if any(each.where == "config" and each.after is None for each in plan.changes):
        _drop_empty_sections(git)


def _drop_empty_sections(git: Git) -> None:
    left = present(git)
    for section in (f"merge.{NAME}", f"mergetool.{NAME}"):
        if not any(name.startswith(f"{section}.") for name in left):
            git.run("config", "--local", "--remove-section", section)


def _attributes_place(git: Git) -> str:
    place = os.path.join(git.root, ATTRIBUTES)
    if os.path.islink(place) or (os.path.lexists(place) and not os.path.isfile(place)):
        raise InputError(
            Code.NOT_A_FILE,
            f"{ATTRIBUTES} is no regular file, so nothing is written to it",
            hint="git does not follow links there either: make it a file first",
            fields={"path": ATTRIBUTES},
        )
    return place


def _attributes(git: Git) -> bytes:
    place = _attributes_place(git)
    if not os.path.lexists(place):
        return b""
    with open(place, "rb") as file:
        return file.read()


def _line_in(attributes: bytes) -> str | None:
    lines = attributes.removeprefix(_BOM).splitlines()
    return LINE.decode().strip() if LINE.strip() in lines else None


def _change_attributes(git: Git, change: Change) -> None:
    place, before = _attributes_place(git), _attributes(git)
    bom = _BOM if before.startswith(_BOM) else b""
    rest = before.removeprefix(bom)
    if change.after is not None:
        # First, so that every other line overrides it.
        replace_file(place, bom + LINE + rest)
        return
    lines = [line for line in rest.splitlines(keepends=True) if line.strip() != LINE.strip()]
    if bom or lines:
        replace_file(place, bom + b"".join(lines))
    else:
        os.unlink(place)
