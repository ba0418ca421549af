"""Click's complaints about the words of a call, in the words of this program."""

from typing import Any, Final

import click

from commonhold.kernel.errors import Code, UsageError

NAME_IT: Final = "name this session: --agent NAME, or export COMMONHOLD_AGENT=NAME first"
_TOO_MANY: Final = "Got unexpected extra argument"


def usage_error(fault: click.UsageError) -> UsageError:
    """Return the complaint as an error of ours; its message names the argument, its hint a call to go on with."""
    path = fault.ctx.command_path if fault.ctx else "commonhold"
    hint = f"see `{path} --help`"
    match fault:
        case click.exceptions.NoArgsIsHelpError(ctx=click.Context(command=click.Group() as group) as context):
            said = f"{path} needs the name of a command: {', '.join(group.list_commands(context))}"
        case click.MissingParameter(param=click.Parameter() as parameter):
            said = f"{_name_of(parameter)} is missing{_choices_of(parameter)}"
            hint = f"{_example_of(fault.ctx)}{hint}"
        case click.BadParameter(param=click.Parameter() as parameter):
            said = _unfit(parameter, fault.message.rstrip("."))
            hint = f"{_near(parameter, fault.message)}{hint}"
        case click.BadOptionUsage() if fault.message.endswith("requires an argument."):
            said = f"{fault.option_name} needs a value"
        case _:
            said = fault.format_message().rstrip(".")
            if said.startswith(_TOO_MANY):
                said = f"too many arguments: {said.partition('(')[2].rstrip(')')}"
    return UsageError(Code.USAGE, said, hint=hint)


def _name_of(parameter: click.Parameter) -> str:
    """Return the name as the help has it: the longest spelling of an option."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return (parameter.metavar or parameter.human_readable_name).strip("[].")


def _choices_of(parameter: click.Parameter) -> str:
    return f": {_takes(parameter.type)}" if isinstance(parameter.type, click.Choice) else ""


def _example_of(context: click.Context | None) -> str:
    """Return the first example of a command that is called as this one."""
    examples = getattr(context.command, "examples", ()) if context else ()
    return f"for example: {examples[0]}; " if examples else ""


def _unfit(parameter: click.Parameter, message: str) -> str:
    """Return that an argument takes other values than the given one; in click's words for types with own words."""
    given, is_by_click, _ = message.partition(" is not ")
    wanted = _takes(parameter.type)
    if not wanted or not is_by_click:
        return f"{_name_of(parameter)} cannot be used: {message}"
    return f"{_name_of(parameter)} takes {wanted}, not {given}"


def _takes(kind: click.ParamType[Any]) -> str:
    match kind:
        case click.Choice():
            *others, last = map(str, kind.choices)
            return f"{', '.join(others)} or {last}" if others else last
        case click.IntRange() | click.FloatRange():
            noun = "a whole number" if isinstance(kind, click.IntRange) else "a number"
            least = "" if kind.min is None else f" above {kind.min:g}" if kind.min_open else f" from {kind.min:g}"
            most = "" if kind.max is None else f" up to {kind.max:,}"
            return f"{noun}{least}{most or (' on' if ' from' in least else '')}"
        case click.types.IntParamType():
            return "a whole number"
        case click.types.FloatParamType():
            return "a number"
        case _:
            return ""


def _near(parameter: click.Parameter, message: str) -> str:
    """Return the choices that may have been meant."""
    if not isinstance(parameter.type, click.Choice):
        return ""
    # Loaded here: usually the word is right.
    from difflib import get_close_matches  # noqa: PLC0415

    given = message.partition(" is not ")[0].strip("'\"")
    near = get_close_matches(given, [str(each) for each in parameter.type.choices], n=2)
    return f"did you mean {' or '.join(near)}? " if near else ""
