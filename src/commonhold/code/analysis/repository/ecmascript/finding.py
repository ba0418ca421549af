"""How files of JavaScript and TypeScript find each other: by relative paths, and by the names of workspace packages."""

from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import Final

from commonhold.code.analysis.repository.file_places import nearest, places
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.linkage import Linkage

_EXTENSIONS: Final = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue")
# The sources of a compiled file: `./x.js` may be written for `./x.ts`.
_SOURCES: Final = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_PACKAGE_FOLDERS: Final = ("packages", "libs", "apps", "modules")
_SOURCE_ROOTS: Final = ("@/", "~/")


def modules(library: Library, path: str, module: str) -> tuple[str, ...]:
    """Return the file that a module name stands for; the empty name is the file itself."""
    if not module:
        return (path,)
    paths = library.paths
    for place in _places(library, path, module):
        for choice in _choices(place):
            if choice in paths:
                return (choice,)
    return ()


def _places(library: Library, path: str, module: str) -> Iterator[str]:
    """Yield the places where a module may lie, without its extension."""
    if module.startswith("."):
        yield normpath(join(dirname(path), module)).removeprefix(".")
    elif module.startswith(_SOURCE_ROOTS):
        yield from _from_root(path, module[2:])
    elif not module.startswith("/"):
        yield from _in_workspace(library, path, module)


def _from_root(path: str, rest: str) -> Iterator[str]:
    folder = dirname(path)
    while folder:
        yield from (join(folder, rest), join(folder, "src", rest))
        folder = dirname(folder)
    yield from (rest, join("src", rest))


def _in_workspace(library: Library, path: str, module: str) -> Iterator[str]:
    """Yield the places in a package of this repository, found by a folder of that name."""
    parts = module.split("/")
    name, rest = (parts[1], parts[2:]) if module.startswith("@") and len(parts) > 1 else (parts[0], parts[1:])
    for folder in nearest(path, _packages(library, name)):
        yield from (join(folder, "src", *rest), join(folder, *rest))


def _packages(library: Library, name: str) -> list[str]:
    known = places(library.paths, _EXTENSIONS)
    folders = (f"{parent}/{name}" for parent in _PACKAGE_FOLDERS)
    return [each for each in folders if any(join(each, inner).rstrip("/") in known.by_folder for inner in ("", "src"))]


def _choices(place: str) -> Iterator[str]:
    yield place
    yield from (place + extension for extension in _EXTENSIONS)
    for compiled, sources in _SOURCES.items():
        if place.endswith(compiled):
            yield from (place.removesuffix(compiled) + source for source in sources)
    yield from (join(place, f"index{extension}") for extension in _EXTENSIONS)


JAVASCRIPT: Final = Linkage(
    modules, may_omit=True, writes_receiver=False, says_made=True, adds_members=True, hides=True
)
TYPESCRIPT: Final = Linkage(modules, writes_receiver=False, says_made=True, adds_members=True, hides=True)
