"""The languages that can be linked, one entry each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from commonhold.code.analysis.repository.ecmascript.finding import JAVASCRIPT, TYPESCRIPT
from commonhold.code.analysis.repository.ecmascript.summarising import (
    summarise_javascript,
    summarise_tsx,
    summarise_typescript,
)
from commonhold.code.analysis.repository.entry_points import summarise_entry_points
from commonhold.code.analysis.repository.golang.finding import LINKAGE as GO
from commonhold.code.analysis.repository.golang.summarising import summarise as summarise_go
from commonhold.code.analysis.repository.java.finding import LINKAGE as JAVA
from commonhold.code.analysis.repository.java.summarising import summarise as summarise_java
from commonhold.code.analysis.repository.linkage import Linkage
from commonhold.code.analysis.repository.python_files import summarise_python, update_python
from commonhold.code.analysis.repository.python_modules import python_modules, python_submodules
from commonhold.code.analysis.repository.rust.finding import LINKAGE as RUST
from commonhold.code.analysis.repository.rust.summarising import summarise as summarise_rust
from commonhold.code.analysis.repository.summary import Summary


@dataclass(frozen=True, slots=True)
class Linked:
    """How a language is summarised, and how its files find each other.

    `update` makes the same summary of a text, at the cost of its differences from a text that has another summary.
    """

    summarise: Callable[[bytes], Summary]
    linkage: Linkage
    update: Callable[[Summary, bytes], Summary] | None = None


_PYTHON: Final = Linkage(modules=python_modules, below=python_submodules, redefines=True)
LINKED: Final[Mapping[str, Linked]] = {
    "python": Linked(summarise_python, _PYTHON, update_python),
    "javascript": Linked(summarise_javascript, JAVASCRIPT),
    "typescript": Linked(summarise_typescript, TYPESCRIPT),
    "tsx": Linked(summarise_tsx, TYPESCRIPT),
    "go": Linked(summarise_go, GO),
    "rust": Linked(summarise_rust, RUST),
    "java": Linked(summarise_java, JAVA),
    "toml": Linked(summarise_entry_points, _PYTHON),
}


_NONE: Final = Linkage(modules=lambda _library, _path, _name: ())


def linkage_of(language: str) -> Linkage:
    """Return how the files of a language find each other; not at all if it has no entry."""
    entry = LINKED.get(language)
    return entry.linkage if entry else _NONE
