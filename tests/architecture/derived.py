"""The source files that are derived from the operations of the service. `make generate` writes them."""

import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import commonhold
from commonhold.api import terms
from commonhold.api.service import OPERATIONS, Service
from commonhold.client import offered

SOURCE: Final = Path(commonhold.__file__).parent
WIDTH: Final = 80
USE_OF_TERM: Final = re.compile(r"\bterms\.([A-Z]\w+)")


def sdk_methods() -> Iterator[str]:
    yield '"""The operations of the service, as methods of both SDKs. `make generate` derives this file."""'
    yield ""
    yield from (f"from {each.__module__} import {each.__name__}" for each in (Service, offered.offered))
    yield from ("", "", "class Operations:", '    """The methods that are one call of the service each."""', "")
    yield from (
        f"    {name} = offered(Service.{name})" for name, each in OPERATIONS.items() if each.in_sdk and not each.wrapped
    )


def types() -> Iterator[str]:
    homes = dict(sorted(types_by_home().items()))
    yield '"""The types in the signatures of the service, each loaded at its first use: a command makes few calls.'
    yield from ("", "So a caller of `typing.get_type_hints` finds them, and other callers do not wait for them.")
    yield from ("`make generate` derives this file.", '"""')
    yield "# ruff: noqa: PLC0414 - type checkers treat an import as a re-export only if it is named twice"
    yield from ("", "from importlib import import_module", "from typing import TYPE_CHECKING, Final")
    yield from ("", "if TYPE_CHECKING:")
    for home, names in homes.items():
        yield from (f"    from {home} import {name} as {name}" for name in sorted(names))
    yield from ("", "_HOMES: Final = {")
    for home, names in homes.items():
        first, *more = textwrap.wrap(" ".join(sorted(names)), WIDTH)
        yield f'    "{home}": ' + "\n    ".join([f'"{first}"', *(f'" {each}"' for each in more)]) + ","
    yield "}"
    yield "_HOME_OF: Final = {name: module for module, names in _HOMES.items() for name in names.split()}"
    yield from LOADING.splitlines()


LOADING: Final = '''
# Hidden from type checkers: with this in view they would accept any name as a type.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Return a type, loaded now."""
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(_HOME_OF[name]), name)
        return found
'''


def types_by_home() -> Mapping[str, set[str]]:
    """The types that signatures name as `terms.NAME`, by the modules that define them."""
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    used = {name for text in texts.values() if "import terms" in text for name in USE_OF_TERM.findall(text)}
    found: dict[str, set[str]] = defaultdict(set)
    for name in used:
        found[commonhold._HOME_OF.get(name) or home_of(name, texts)].add(name)
    return found


def home_of(name: str, texts: Mapping[Path, str]) -> str:
    """The one module that defines a class of this name. Raises LookupError if there is none, or more than one."""
    definition = re.compile(rf"^class {name}\b", re.MULTILINE)
    homes = [path for path, text in texts.items() if definition.search(text)]
    if len(homes) != 1:
        raise LookupError(f"{len(homes)} modules define a class {name}; give it a name of its own")
    return ".".join(("commonhold", *homes[0].relative_to(SOURCE).with_suffix("").parts))


FILES: Final = {Path(offered.__file__).with_name("operations.py"): sdk_methods, Path(terms.__file__): types}
"""The files, found without importing the first: it cannot be imported while it names a method that is gone."""


def derived(path: Path) -> str:
    """The text that the file has to have."""
    return "\n".join(FILES[path]()) + "\n"


if __name__ == "__main__":
    for each in FILES:
        each.write_text(derived(each), encoding="utf-8")
