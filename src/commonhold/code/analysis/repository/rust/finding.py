"""How modules of Rust find each other: by the folders of their crate; a crate by the folder with its name."""

from posixpath import basename, dirname, join, splitext
from typing import Final

from commonhold.code.analysis.repository.file_places import Places, nearest, places
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.linkage import Linkage

_EXTENSIONS: Final = (".rs",)
_ROOTS: Final = ("lib.rs", "main.rs")
_MODULE: Final = "mod.rs"
# Folders in which each file is a crate of its own.
_LOOSE: Final = frozenset({"benches", "bin", "examples", "tests"})
_SOURCE: Final = "src"


def modules(library: Library, path: str, module: str) -> tuple[str, ...]:
    """Return the file of a module, by a path as written in the file at `path`."""
    known = places(library.paths, _EXTENSIONS)
    root, *rest = [part for part in module.replace("::", ".").split(".") if part] or ["self"]
    found = _start(known, path, root)
    for part in rest:
        found = _parent(known, found) if part == "super" and found else _child(known, found, part)
    return (found,) if found else ()


def _start(known: Places, path: str, root: str) -> str:
    if root == "self":
        return path
    if root == "crate":
        return _crate_root(known, path)
    if root == "super":
        return _parent(known, path)
    return _child(known, path, root) or _crate(known, path, root)


def _crate_root(known: Places, path: str) -> str:
    """Return the root of the crate of a file: the nearest `lib.rs` or `main.rs` above, or the file itself."""
    folder, name = dirname(path), basename(path)
    if name in _ROOTS or basename(folder) in _LOOSE:
        return path
    while True:
        for root in _ROOTS:
            if join(folder, root) in known.paths:
                return join(folder, root)
        if folder in {"", "/"} or basename(folder) in _LOOSE:
            return ""
        folder = dirname(folder)


def _own_folder(known: Places, path: str) -> str:
    """Return the folder in which the modules below a file lie."""
    name = basename(path)
    if name in (*_ROOTS, _MODULE) or _crate_root(known, path) == path:
        return dirname(path)
    return splitext(path)[0]


def _child(known: Places, path: str, name: str) -> str:
    if not path:
        return ""
    folder = _own_folder(known, path)
    choices = (join(folder, f"{name}.rs"), join(folder, name, _MODULE))
    return next((each for each in choices if each in known.paths), "")


def _parent(known: Places, path: str) -> str:
    """Return the file of the parent module of a file's module."""
    if basename(path) in _ROOTS:
        return ""
    folder = dirname(path) if basename(path) == _MODULE else splitext(path)[0]
    above = dirname(folder)
    choices = (join(above, _MODULE), f"{above}.rs", *(join(above, root) for root in _ROOTS))
    return next((each for each in choices if each in known.paths and each != path), "")


def _crate(known: Places, path: str, name: str) -> str:
    """Return the root of another crate of this repository.

    Its folder has the name of the crate, or, as is usual in a family of crates, the last parts of it. In a file of
    tests or examples the name means the file's own package if no other folder fits it.
    """
    words = name.split("_")
    for start in range(len(words)):
        wanted = "_".join(words[start:])
        found = [root for root in _library_roots(known) if _package_name(root).replace("-", "_") == wanted]
        found = [root for root in found if not path.startswith(f"{dirname(root)}/")]
        if found:
            return nearest(path, found)[0]
    return ""


def _library_roots(known: Places) -> list[str]:
    return [f"{folder}/lib.rs" for folder in known.by_last.get(_SOURCE, ()) if f"{folder}/lib.rs" in known.paths]


def _package_name(root: str) -> str:
    return basename(dirname(dirname(root)))


def below(library: Library, path: str, name: str) -> tuple[str, ...]:
    """Return the module in the folder of a file, for a name that the file does not visibly declare."""
    found = _child(places(library.paths, _EXTENSIONS), path, name)
    return (found,) if found else ()


LINKAGE: Final = Linkage(modules, below=below, says_made=True, adds_members=True, is_made=True, checks_types=True)
