"""A generated package: one large file, many small ones that call it, and what clients edit in them."""

import re
from pathlib import Path
from typing import Final

import commonhold
from bench.git import record
from commonhold import Edit, Op

MODULES: Final = 50
FUNCTIONS: Final = 69
"""Functions of the large file, `pkg/m0.py`: it has about 970 lines."""
FEW: Final = 8
"""Functions of each other file."""
KINDS: Final = ("body", "insert", "header", "contract")
HOT, OWN = "one file", "own files"
LAYOUTS: Final = (HOT, OWN)
_REACH: Final = (1, 3, 7)
_FUNCTION: Final = '''

def f{module}_{number}(value: int, scale: int = 1, x: int = 0) -> int:
    """Give value {number} of module {module}."""
    mark = "start"
    total = len(mark) + x
    if value > 0:
        total += value * scale
    if value > 10:
        total += value * scale + 1
    if value > 20:
        total -= value * scale + 2
    total += {call}
    return total
'''


def lay_out(root: Path, settings: str = 'types = "on"\nsuspicion = "notice"\n') -> None:
    """Write the package as a git repository with one commit, and the settings."""
    (root / "pkg").mkdir(parents=True)
    (root / "pkg/__init__.py").write_text("")
    for module in range(MODULES):
        (root / f"pkg/m{module}.py").write_text(_module(module))
    (root / "commonhold.toml").write_text(settings)
    record(root)


def _module(module: int) -> str:
    others = [((module + step) % MODULES, step) for step in _REACH]
    header = ["import os", "import json", *(f"from pkg.m{other} import f{other}_{step}" for other, step in others)]
    calls = [f"f{other}_{step}(value, scale)" for other, step in others]
    parts = [
        _FUNCTION.format(module=module, number=number, call=calls[number // 4 % 3] if number % 4 == 1 else number)
        for number in range(FEW if module else FUNCTIONS)
    ]
    return "\n".join([*header, "", f"LIMIT_{module} = {module}", ""]) + "".join(parts)


def keys_of(client: int, clients: int, layout: str) -> list[str]:
    """The functions that a client edits: in the large file a share of its own, or all of a small file of its own."""
    if layout == OWN:
        return [f"pkg/m{client + 16}.py#f{client + 16}_{number}" for number in range(FEW)]
    share = FUNCTIONS // clients
    return [f"pkg/m0.py#f0_{client * share + number}" for number in range(min(share, FEW))]


def written(hold: commonhold.Commonhold, kind: str, key: str, token: str) -> Edit:
    """What an agent writes after it has read `key`: an edit of one kind that carries `token`.

    Body, contract: a value of the function, a parameter with a default. Header: one more import. Insert: one more
    function behind `key`. Note: one more comment in the body.
    """
    path = key.partition("#")[0]
    (region,) = hold.read(f"{path}#@header" if kind == "header" else key)
    if kind == "header":
        piece = region.pieces[0]
        lines = piece.text.splitlines(keepends=True)
        lines.insert(2, f"from pkg.m9 import f9_1 as seen_{token}\n")
        return Edit(Op.REPLACE, region.key, base=piece.hash, text="".join(lines), span=0)
    if kind == "insert":
        text = f"def made_{token}(value: int) -> int:\n    return value + 1\n"
        return Edit(Op.INSERT, f"{path}#made_{token}", text=text, after=region.key)
    return Edit(Op.REPLACE, region.key, base=region.hash, text=_changed(kind, region.text or "", token))


def _changed(kind: str, text: str, token: str) -> str:
    match kind:
        case "body":
            return re.sub(r'mark = "\w+"', f'mark = "{token}"', text, count=1)
        case "contract":
            return re.sub(r"x\w*: int = 0\)", f"x{token}: int = 0)", text, count=1).replace(
                *_parameter_used(text, token), 1
            )
        case "note":
            return text.replace("    total = ", f"    # {token}\n    total = ", 1)
        case _:
            raise ValueError(f"there is no kind of edit {kind!r}")


def _parameter_used(text: str, token: str) -> tuple[str, str]:
    used = re.search(r"len\(mark\) \+ x\w*", text)
    assert used is not None, text
    return used[0], f"len(mark) + x{token}"
