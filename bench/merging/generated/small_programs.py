"""Small Python programs of functions, a class and constants, made and edited by chance. Each of them ends."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Final

_LOCALS: Final = ("first", "second", "third")
_HEAD: Final = "state = []\n"

Body = tuple[str, ...]


@dataclass(frozen=True)
class Function:
    """A function or method: its parameters beside the first, and its statements, one to an entry."""

    name: str
    parameters: str
    body: Body

    def text(self, indent: str = "") -> str:
        """The definition."""
        first = "self, given" if indent else "given"
        lines = "".join(f"{indent}    {line}\n" for each in self.body for line in each.splitlines())
        return f"{indent}def {self.name}({first}{self.parameters}):\n{lines}\n"


@dataclass(frozen=True)
class Small:
    """A program."""

    constants: Mapping[str, int]
    methods: tuple[Function, ...]
    functions: tuple[Function, ...]

    def text(self) -> str:
        """The program as a module."""
        constants = "".join(f"{name} = {value}\n" for name, value in self.constants.items())
        methods = "".join(each.text("    ") for each in self.methods)
        functions = "\n".join(each.text() for each in self.functions)
        start = "    def __init__(self, size=1):\n        self.size = size\n        self.seen = []\n\n"
        return f"{_HEAD}{constants}\n\nclass Box:\n{start}{methods}\n{functions}"


def made(random: Random) -> Small:
    """A program."""
    constants = {"LIMIT": random.randrange(9), "STEP": random.randrange(9)}
    methods = tuple(Function(name, "", _body(random, (), is_method=True)) for name in ("grow", "hold"))
    functions: tuple[Function, ...] = ()
    for number in range(3):
        known = tuple(each.name for each in functions)
        functions += (Function(f"work{number}", ", by=1", _body(random, known)),)
    return Small(constants, methods, functions)


def _body(random: Random, known: tuple[str, ...], *, is_method: bool = False) -> Body:
    start = "first = given", "second = 2", "third = LIMIT"
    middle = tuple(_statement(random, known, is_method=is_method) for _ in range(random.randrange(2, 5)))
    return (*start, *middle, f"return first + {random.choice(_LOCALS)}")


def _statement(random: Random, known: tuple[str, ...], *, is_method: bool = False) -> str:
    left, right, number = random.choice(_LOCALS), random.choice(_LOCALS), random.randrange(1, 9)
    forms = [
        f"{left} = {number}",
        f"{left} = {right} + {number}",
        f"{left} += {right}",
        f"{left} *= {number}",
        f"if {left} > {number}:\n    {right} = {number}",
        f"if {left} > {number}:\n    return {right}",
        f"for each in range({number}):\n    {left} += each",
        f"state.append({left})",
        f"{left} = len(state)",
        f"{left} += STEP",
        f"try:\n    {left} = 9 // {right}\nexcept ZeroDivisionError:\n    {left} = {number}",
    ]
    if is_method:
        forms += [f"self.size = {left}", f"{left} = self.size", f"self.seen.append({left})", f"{left} = len(self.seen)"]
    else:
        forms += [
            f"box = Box({left})\n{left} = box.grow({number})",
            f"{left} = Box({number}).hold({right})",
            f"{left} = Box(size={number}).size",
        ]
    forms += [f"{left} = {name}({right})" for name in known]
    return random.choice(forms)


Change = Callable[[Small, Random], Small]


def _changing(change: Callable[[Body, Random, tuple[str, ...], bool], Body]) -> Change:
    """An edit of the body of some function or method."""

    def edit(program: Small, random: Random) -> Small:
        is_method = random.random() < 0.3  # noqa: PLR2004 - of five, two are methods
        among = program.methods if is_method else program.functions
        index = random.randrange(len(among))
        known = tuple(each.name for each in program.functions[:index]) if not is_method else ()
        changed = replace(among[index], body=change(among[index].body, random, known, is_method))
        parts = (*among[:index], changed, *among[index + 1 :])
        return replace(program, methods=parts) if is_method else replace(program, functions=parts)

    return edit


def _insert(body: Body, random: Random, known: tuple[str, ...], is_method: bool) -> Body:  # noqa: FBT001
    at = random.randrange(len(body))
    return (*body[:at], _statement(random, known, is_method=is_method), *body[at:])


def _early_return(body: Body, random: Random, _known: tuple[str, ...], _is_method: bool) -> Body:  # noqa: FBT001
    at = random.randrange(1, len(body))
    return (*body[:at], f"if given > {random.randrange(8)}:\n    return {random.randrange(9)}", *body[at:])


def _leave_out(body: Body, random: Random, _known: tuple[str, ...], _is_method: bool) -> Body:  # noqa: FBT001
    at = random.randrange(3, len(body))
    return (*body[:at], *body[at + 1 :]) if at < len(body) - 1 else body


def _exchange(body: Body, random: Random, _known: tuple[str, ...], _is_method: bool) -> Body:  # noqa: FBT001
    at = random.randrange(len(body) - 2)
    return (*body[:at], body[at + 1], body[at], *body[at + 2 :])


def _other_number(body: Body, random: Random, _known: tuple[str, ...], _is_method: bool) -> Body:  # noqa: FBT001
    places = [index for index, each in enumerate(body) if any(letter.isdigit() for letter in each)]
    at = random.choice(places)
    digit = next(letter for letter in body[at] if letter.isdigit())
    return (*body[:at], body[at].replace(digit, str(random.randrange(1, 9)), 1), *body[at + 1 :])


def _rename_local(body: Body, random: Random, _known: tuple[str, ...], _is_method: bool) -> Body:  # noqa: FBT001
    old = random.choice(_LOCALS)
    return tuple(each.replace(old, f"{old}_new") for each in body)


def _other_result(body: Body, random: Random, _known: tuple[str, ...], _is_method: bool) -> Body:  # noqa: FBT001
    return (*body[:-1], f"return {random.choice(_LOCALS)} + {random.choice(_LOCALS)} * 2")


def _wrap(body: Body, random: Random, _known: tuple[str, ...], _is_method: bool) -> Body:  # noqa: FBT001
    at = random.randrange(3, len(body))
    inner = "".join(f"    {line}\n" for line in body[at].splitlines())
    return (*body[:at], f"if given > {random.randrange(8)}:\n{inner}".rstrip("\n"), *body[at + 1 :])


def _add_function(program: Small, random: Random) -> Small:
    known = tuple(each.name for each in program.functions)
    added = Function(random.choice(("added", "extra")), ", by=1", _body(random, known))
    at = random.randrange(len(program.functions) + 1) if random.random() < 0.5 else len(program.functions)  # noqa: PLR2004 - half
    return replace(program, functions=(*program.functions[:at], added, *program.functions[at:]))


def _add_method(program: Small, random: Random) -> Small:
    added = Function(random.choice(("added", "extra", "hold")), "", _body(random, (), is_method=True))
    return replace(program, methods=(*program.methods, added))


def _other_constant(program: Small, random: Random) -> Small:
    name = random.choice((*program.constants, "MORE"))
    return replace(program, constants={**program.constants, name: random.randrange(9)})


def _move_function(program: Small, random: Random) -> Small:
    return replace(program, functions=tuple(random.sample(program.functions, len(program.functions))))


def _default(program: Small, random: Random) -> Small:
    index = random.randrange(len(program.functions))
    parameters = f", by={random.randrange(2, 9)}"
    body = (*program.functions[index].body[:-1], "return first + by")
    changed = replace(program.functions[index], parameters=parameters, body=body)
    return replace(program, functions=(*program.functions[:index], changed, *program.functions[index + 1 :]))


CHANGES: Final[Mapping[str, Change]] = {
    "add statement": _changing(_insert),
    "early return": _changing(_early_return),
    "delete statement": _changing(_leave_out),
    "swap statements": _changing(_exchange),
    "change constant": _changing(_other_number),
    "rename local": _changing(_rename_local),
    "change result": _changing(_other_result),
    "wrap in a condition": _changing(_wrap),
    "add function": _add_function,
    "add member": _add_method,
    "change module constant": _other_constant,
    "move functions": _move_function,
    "change default": _default,
}
