"""How modules of Rust find each other: by the folders of their crate; a crate by the folder that is called like it."""

from posixpath import basename, dirname, join, splitext
from typing import Final

from commonhold.linking.library import Library
from commonhold.linking.linkage import Linkage
from commonhold.linking.placing import Places, nearest, places

_EXTENSIONS: Final = (".rs",)
_ROOTS: Final = ("lib.rs", "main.rs")
_MODULE: Final = "mod.rs"
# Folders whose files are each a crate of their own.
_LOOSE: Final = frozenset({"benches", "bin", "examples", "tests"})
_SOURCE: Final = "src"


def modules(library: Library, path: str, module: str) -> tuple[str, ...]:
    """The file of a module, by a path as it is written in the file at `path`."""
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
    """The root of the crate that a file is of: the nearest `lib.rs` or `main.rs` above, or itself."""
    folder, name = dirname(path), basename(path)
    if name in _ROOTS or basename(folder) in _LOOSE:
        return path
    while True:
        for root in _ROOTS:
            if join(folder, root) in known.paths:
                return join(folder, root)
        if not folder or basename(folder) in _LOOSE:
            return ""
        folder = dirname(folder)


def _own_folder(known: Places, path: str) -> str:
    """The folder in which the modules below a file lie."""
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
    """The file of the module around the one of a file."""
    if basename(path) in _ROOTS:
        return ""
    folder = dirname(path) if basename(path) == _MODULE else splitext(path)[0]
    above = dirname(folder)
    choices = (join(above, _MODULE), f"{above}.rs", *(join(above, root) for root in _ROOTS))
    return next((each for each in choices if each in known.paths and each != path), "")


def _crate(known: Places, path: str, name: str) -> str:
    """The root of another crate of this repository.

    Its folder is called as it is, or, as people do within a family of crates, by the last parts of its name. A file of
    tests or examples means its own package by that name where nothing else is called so.
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
    """The module that lies in the folder of a file, where the file does not declare it in a way that is seen."""
    found = _child(places(library.paths, _EXTENSIONS), path, name)
    return (found,) if found else ()


LINKAGE: Final = Linkage(modules, below=below, says_made=True, adds_members=True, is_made=True)
