"""The Python files that a project leaves out of its own type checks, by the settings of its type checkers.

The project does not care whether these are typed correctly, so a complaint about one of them is no reason to refuse.
"""

import configparser
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from commonhold.code.analysis.test_files import is_test

_PYTHON: Final = (".py", ".pyi")
_LARGEST: Final = 1_000_000
_INI: Final = ("mypy.ini", ".mypy.ini", "setup.cfg")
_OVERRIDE: Final = "mypy-"

Settings = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Scope:
    """The files of one checker: all files, or those `included`, less those `excluded`, both as regular expressions.

    `is_told`: it checks the paths that it is called with; without `included`, tests are assumed not to be among them.
    """

    included: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    is_told: bool = False

    def has(self, path: str) -> bool:
        """Whether the checker checks a file."""
        is_included = _is_found(self.included, path) if self.included else not (self.is_told and is_test(path))
        return is_included and not _is_found(self.excluded, path)


def is_unchecked(root: str, path: str) -> bool:
    """Whether no type checker that the project at `root` has settings for checks a Python file.

    A project without any settings checks no tests: they are rarely annotated. Settings that cannot be read count as
    absent.
    """
    if not path.endswith(_PYTHON):
        return False
    scopes = tuple(_scopes(root))
    return not any(scope.has(path) for scope in scopes) if scopes else is_test(path)


def _scopes(root: str) -> Iterator[_Scope]:
    tools = _table(_toml(root, "pyproject.toml"), "tool")
    for mypy in (_table(tools, "mypy"), *(_ini(root, name) for name in _INI)):
        if mypy:
            yield _of_mypy(mypy)
    if pyright := _json(root, "pyrightconfig.json") or _table(tools, "pyright"):
        yield _by_globs(_texts(pyright, "include"), (*_texts(pyright, "exclude"), *_texts(pyright, "ignore")))
    if ty := _toml(root, "ty.toml") or _table(tools, "ty"):
        sources = _table(ty, "src")
        yield _by_globs(_texts(sources, "include"), _texts(sources, "exclude"))
    if pyrefly := _toml(root, "pyrefly.toml") or _table(tools, "pyrefly"):
        yield _by_globs(_texts(pyrefly, "project-includes"), _texts(pyrefly, "project-excludes"))


def _of_mypy(settings: Settings) -> _Scope:
    """The scope of mypy, whose `exclude` has regular expressions already, and whose overrides name modules."""
    packages = (*_texts(settings, "packages"), *_texts(settings, "modules"))
    included = (*map(_of_glob, _texts(settings, "files")), *map(_of_module, packages))
    overrides = settings.get("overrides")
    tables = [each for each in overrides if isinstance(each, dict)] if isinstance(overrides, list) else []
    ignored = (name for table in tables if table.get("ignore_errors") is True for name in _texts(table, "module"))
    return _Scope(included, (*_texts(settings, "exclude"), *map(_of_module, ignored)), is_told=True)


def _by_globs(included: Iterable[str], excluded: Iterable[str]) -> _Scope:
    return _Scope(tuple(map(_of_glob, included)), tuple(map(_of_glob, excluded)))


def _of_module(pattern: str) -> str:
    """Return a pattern for the files of a module, or of all below a package, wherever the package lies."""
    name = re.escape(pattern.removesuffix(".*")).replace(r"\.", "/").replace(r"\*", "[^/]*")
    return rf"(?:^|/){name}(?:/|\.pyi?$)"


def _of_glob(pattern: str) -> str:
    """Return a pattern for the files that a path with stars means, or that lie below a folder that it means."""
    plain = pattern.removeprefix("./").strip("/")
    if plain in ("", "."):
        return ""
    parts = re.split(r"(\*\*/|/\*\*|\*\*|\*|\?)", plain)
    stars = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return f"^{''.join(stars.get(part, re.escape(part)) for part in parts)}(?:/|$)"


def _is_found(patterns: Iterable[str], path: str) -> bool:
    for pattern in patterns:
        try:
            if re.search(pattern, path):
                return True
        except re.error:
            continue
    return False


# Read settings that may be anything.


def _read(root: str, name: str) -> str:
    try:
        with open(os.path.join(root, name), encoding="utf-8") as file:
            return file.read(_LARGEST)
    except (OSError, UnicodeDecodeError):
        return ""


def _toml(root: str, name: str) -> Settings:
    try:
        return tomllib.loads(_read(root, name))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _json(root: str, name: str) -> Settings:
    try:
        found = json.loads(_read(root, name) or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _ini(root: str, name: str) -> Settings:
    """The section of mypy, with the sections of modules as overrides."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(_read(root, name))
    except configparser.Error:
        return {}
    if not parser.has_section("mypy"):
        return {}
    modules = [each for each in parser.sections() if each.startswith(_OVERRIDE)]
    overrides = [
        {"module": each.removeprefix(_OVERRIDE).split(","), "ignore_errors": True}
        for each in modules
        if parser.get(each, "ignore_errors", fallback="").lower() in ("true", "1", "yes", "on")
    ]
    listed = {key: [part.strip() for part in value.split(",")] for key, value in parser.items("mypy")}
    excluded = parser.get("mypy", "exclude", fallback="")
    return {**listed, "exclude": excluded.split("\n") if excluded else [], "overrides": overrides}


def _table(settings: Settings, name: str) -> Settings:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}


def _texts(settings: Settings, name: str) -> tuple[str, ...]:
    """Return the strings of a list, or a single string."""
    found = settings.get(name)
    each = found if isinstance(found, list) else [found]
    return tuple(one.strip() for one in each if isinstance(one, str) and one.strip())
