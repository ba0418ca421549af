"""Dotted names, as Python has them: `pkg.mod.C.m` is `C.m` in the file of the module `pkg.mod`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import FILE, HEADER, Key, Spec, parse_names

FileAt = Callable[[str], tuple[str, ...] | None]
"""The canonical segments of the regular file at a path, or None."""

# A stub describes the offers of a module; it stands for the module only if there is no source.
_FORMS: Final = (("{}.py", "{}/__init__.py"), ("{}.pyi", "{}/__init__.pyi"))
_HOMES: Final = ("", "src/")
_SOURCES: Final = frozenset({"py", "pyi", "pyw"})
_SUFFIXES: Final = frozenset(
    {
        *("bak", "bat", "bin", "c", "cfg", "conf", "cpp", "css", "csv", "dat", "db", "diff", "env", "gif", "go", "gz"),
        *("h", "htm", "html", "ico", "ini", "ipynb", "java", "jpg", "js", "json", "jsonl", "jsx", "lock", "log", "md"),
        *("mjs", "old", "orig", "out", "patch", "pdf", "php", "pid", "pkl", "png", "po", "proto", "ps1", "pxd", "pyc"),
        *("pyx", "rb", "rej", "rs", "rst", "scss", "sh", "so", "sql", "svg", "tar", "tex", "tf", "tmp", "toml", "ts"),
        *("tsv", "tsx", "txt", "vue", "wasm", "xml", "yaml", "yml", "zip"),
    }
)


def key_of(spec: Spec, file_at: FileAt) -> Key | None:
    """Return the key of a plain text read as a dotted name: its longest prefix that is a module, and a name in it.

    None if it is no dotted name of an existing module. Raises InputError `REGION_AMBIGUOUS`.
    """
    parts = spec.raw_path.split(".")
    if len(parts) == 1 or parts[-1] in _SOURCES or not all(map(_is_name, parts)):
        return None
    for size in range(len(parts), 0, -1):
        names = (*parse_names(".".join(parts[size:])), *spec.names)
        found = [Key(FILE, segments, names) for segments in _files(parts[:size], file_at)]
        if found:
            return _only(spec, found)
    return None


def ends_like_a_file(spec: Spec) -> bool:
    """Whether a dotted text may well be the name of a future file: `config.json`."""
    return spec.raw_path.rpartition(".")[2] in _SUFFIXES


def _is_name(part: str) -> bool:
    return part == HEADER or part.partition("~")[0].isidentifier()


def _files(module: Sequence[str], file_at: FileAt) -> Sequence[tuple[str, ...]]:
    """Return the files of a module, each once: below the root and below `src`, a source before a stub."""
    for forms in _FORMS:
        if found := dict.fromkeys(filter(None, map(file_at, _candidates(module, forms)))):
            return tuple(found)
    return ()


def _candidates(module: Sequence[str], forms: Sequence[str]) -> Iterator[str]:
    path = "/".join(module)
    return (home + form.format(path) for home in _HOMES for form in forms)


def _only(spec: Spec, found: Sequence[Key]) -> Key:
    if len(found) == 1:
        return found[0]
    choices = list(map(str, found))
    raise InputError(
        Code.REGION_AMBIGUOUS,
        f"{spec.raw_path!r} may mean {len(found)} things: {', '.join(choices)}",
        hint=f"name one of {', '.join(choices)}; or, for a new file of that name, file:{spec.raw_path}",
        fields={"choices": choices},
    )
