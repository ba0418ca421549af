"""A scripted agent that works on a copy of click: the first line of its prompt names the change.

It is a program, `click_agent.py PROMPT_FILE`, which edits the files of the folder that it runs in.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

PACKAGE = Path("click")
RETURNED = "was not merged"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


def document(name: str) -> None:
    """Say more in the docstring of a function of utils or termui."""
    for path in (PACKAGE / "utils.py", PACKAGE / "termui.py"):
        found = re.search(rf'^def {name}\(.*?"""', path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        if found:
            change(path, found[0], f"{found[0]}Documented again. ")


def module(name: str) -> None:
    """Add a module, and offer its function."""
    (PACKAGE / f"_{name}.py").write_text(f"def {name}(value: int) -> int:\n    return value + 1\n", encoding="utf-8")
    with (PACKAGE / "__init__.py").open("a", encoding="utf-8") as file:
        file.write(f"from ._{name} import {name} as {name}\n")


def length(number: str) -> None:
    """Change a default that another changes, too."""
    change(PACKAGE / "utils.py", "max_length: int = 45", f"max_length: int = {number}")


def give_way(number: str) -> None:
    """Note that the other was first."""
    Path(f"yielded-{number}.txt").write_text("another value is there\n", encoding="utf-8")


def rename(_: str) -> None:
    """Rename a function with all of its uses."""
    for path in sorted(PACKAGE.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"\bmake_str\b", "to_text", text), encoding="utf-8")


def use(_: str) -> None:
    """Use the function that another renames, by the name that it has here."""
    name = "to_text" if "def to_text" in (PACKAGE / "utils.py").read_text(encoding="utf-8") else "make_str"
    text = f"from .utils import {name}\n\n\ndef shout(value: object) -> str:\n    return {name}(value).upper()\n"
    (PACKAGE / "_shout.py").write_text(text, encoding="utf-8")


def spoil(_: str) -> None:
    """Break a promise that the checks know, each time."""
    head = "def _posixify(name: str) -> str:\n"
    change(PACKAGE / "utils.py", head, f"{head}    return name\n")


CHANGES: dict[str, Callable[[str], None]] = {
    each.__name__: each for each in (document, module, length, rename, use, spoil)
}


def main() -> None:
    prompt = Path(sys.argv[1]).read_text(encoding="utf-8")
    word, _, rest = prompt.splitlines()[0].partition(" ")
    makes = give_way if word == "length" and RETURNED in prompt else CHANGES[word]
    makes(rest)
    print(f"{word} {rest}: done")  # noqa: T201 - its log


if __name__ == "__main__":
    main()
