"""Which files a shell command plainly writes: told from its words, by one table. What is not plain is left out."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from commonhold.app.shell_commands import ShellCommand, Word, commands_in, joined

Words = Sequence[Word]
_VERSION: Final = re.compile(r"(?<=[a-z])\d\.\d+\Z")
_SEPARATOR: Final = Word("--")
_REPLACING: Final = frozenset(
    {"rm", "rmdir", "unlink", "mv", "sed", "gsed", "perl", "ln", "install", "npm", "pnpm", "yarn"}
)


@dataclass(frozen=True, slots=True)
class Target:
    """A path that is written, from the folder that the command runs in; a pattern stands for the files that match.

    `is_replaced`: what is there goes, also if it is a folder, and something else may come in its place.
    """

    path: str
    is_pattern: bool = False
    is_replaced: bool = False


def targets_of(argv: Sequence[str]) -> tuple[Target, ...]:
    """What a command writes, each once, in order."""
    found = (_placed(command, word) for command in commands_in(argv) for word in _written(command))
    return tuple(dict.fromkeys(target for target in found if target))


def _placed(command: ShellCommand, word: Word) -> Target | None:
    path = joined(command.folder, word.text)
    if not path or path.startswith("/dev/"):
        return None
    return Target(path, word.is_pattern, command.name in _REPLACING)


def _written(command: ShellCommand) -> Iterator[Word]:
    yield from command.targets
    rule = _RULES.get(command.name)
    if rule:
        yield from rule([word for word in command.words if word])


def _files(words: Words) -> Words:
    """All that is no option."""
    at = words.index(_SEPARATOR) if _SEPARATOR in words else len(words)
    return [*(word for word in words[:at] if not word.text.startswith("-")), *words[at + 1 :]]


def _after_options(words: Words, valued: str) -> tuple[Words, dict[str, str]]:
    """What is left without the options, and the values of those of one letter that take one."""
    rest, values, pending = [], {}, ""
    for word in words:
        text = word.text
        if pending:
            values[pending], pending = text, ""
        elif len(text) > 1 and text[0] == "-" and text[1] in valued:
            if text[2:]:
                values[text[1]] = text[2:]
            else:
                pending = text[1]
        elif not text.startswith("-") or text == "-":
            rest.append(word)
    return rest, values


def _last(words: Words) -> Words:
    """Where `cp` and its like put things: a file, or a folder in which they are under their own names."""
    rest, values = _after_options(words, "tmogS")
    if "t" in values:
        return [Word(f"{values['t'].rstrip('/')}/{_name(word)}") for word in rest]
    if len(rest) < 2:  # noqa: PLR2004 - a source and a target
        return []
    *sources, target = rest
    inside = [Word(f"{target.text.rstrip('/')}/{_name(word)}") for word in sources if not word.is_pattern]
    return [*inside] if target.text.endswith("/") or len(sources) > 1 else [target, *inside]


def _moved(words: Words) -> Words:
    """`mv` takes away what it moves."""
    rest, values = _after_options(words, "tS")
    return [*(rest if "t" in values else rest[:-1]), *_last(words)]


def _name(word: Word) -> str:
    return word.text.rstrip("/").rpartition("/")[2]


def _edited_by_sed(words: Words) -> Words:
    if not any(word.text.startswith(("-i", "--in-place")) or _has_letter(word, "i") for word in words):
        return []
    rest, values = _after_options(words, "efl")
    is_scripted = bool(values) or any(word.text.startswith(("--expression", "--file")) for word in words)
    return rest if is_scripted else rest[1:]


def _edited_by_perl(words: Words) -> Words:
    if not any(_has_letter(word, "i") for word in words):
        return []
    return _files(words)[1:]  # behind the script, or the file that it is in


def _has_letter(word: Word, letter: str) -> bool:
    text = word.text
    return text.startswith("-") and not text.startswith("--") and letter in text[1:].partition(".")[0]


def _written_with(*flags: str) -> Callable[[Words], Words]:
    """The files that a formatter rewrites when one of `flags` says so; without flags it always does."""

    def rule(words: Words) -> Words:
        texts = {word.text for word in words}
        return _files(words) if not flags or texts.intersection(flags) else []

    return rule


def _given_to(*flags: str) -> Callable[[Words], Words]:
    """What stands behind one of `flags`."""

    def rule(words: Words) -> Words:
        return [then for flag, then in pairwise(words) if flag.text in flags]

    return rule


def _of_dd(words: Words) -> Words:
    return [Word(word.text.removeprefix("of=")) for word in words if word.text.startswith("of=")]


def _of_patch(words: Words) -> Words:
    rest, values = _after_options(words, "pioBdDFrVYz")
    return [*rest[:1], *([Word(values["o"])] if "o" in values else [])]


def _when(verbs: str, *files: str) -> Callable[[Words], Words]:
    """Files of its own that a program writes when the first word is one of `verbs`."""

    def rule(words: Words) -> Words:
        named = _files(words)
        return [Word(file) for file in files] if named and named[0].text in verbs.split() else []

    return rule


def _of_ruff(words: Words) -> Words:
    verb, *rest = words or (_SEPARATOR,)
    return _files(rest) if verb.text == "format" or Word("--fix") in rest else []


_RULES: Final[dict[str, Callable[[Words], Words]]] = {
    "tee": _files,
    "rm": _files,
    "rmdir": _files,
    "unlink": _files,
    "touch": lambda words: _after_options(words, "drt")[0],
    "mkdir": lambda words: _after_options(words, "m")[0],
    "truncate": lambda words: _after_options(words, "sr")[0],
    "cp": _last,
    "install": _last,
    "ln": _last,
    "mv": _moved,
    "sed": _edited_by_sed,
    "gsed": _edited_by_sed,
    "perl": _edited_by_perl,
    "patch": _of_patch,
    "dd": _of_dd,
    "sort": _given_to("-o"),
    "curl": _given_to("-o", "--output"),
    "wget": _given_to("-O"),
    "black": _written_with(),
    "isort": _written_with(),
    "rustfmt": _written_with(),
    "ruff": _of_ruff,
    "gofmt": _written_with("-w"),
    "goimports": _written_with("-w"),
    "prettier": _written_with("--write", "-w"),
    "clang-format": _written_with("-i"),
    "eslint": _written_with("--fix"),
    "npm": _when("install i add ci uninstall rm update", "package.json", "package-lock.json"),
    "pnpm": _when("install i add remove update", "package.json", "pnpm-lock.yaml"),
    "yarn": _when("install add remove upgrade", "package.json", "yarn.lock"),
    "cargo": _when("add remove update generate-lockfile", "Cargo.toml", "Cargo.lock"),
    "uv": _when("add remove lock sync", "pyproject.toml", "uv.lock"),
    "poetry": _when("add remove lock update", "pyproject.toml", "poetry.lock"),
    "go": _when("get mod", "go.mod", "go.sum"),
}


def _of_python(words: Words) -> Words:
    """`python -m venv FOLDER`."""
    at = next((at for at, (flag, name) in enumerate(pairwise(words)) if (flag.text, name.text) == ("-m", "venv")), None)
    return [] if at is None else _after_options(words[at + 2 :], "")[0]


def _of_virtualenv(words: Words) -> Words:
    return _after_options(words, "p")[0][-1:]


def _of_uv(words: Words) -> Words:
    return [Word(".venv"), *(_files(words)[1:] if words[:1] == [Word("venv")] else [])]


# The folders that these are told to make.
_NAMED: Final[dict[str, Callable[[Words], Words]]] = {
    **dict.fromkeys(("python", "python3", "py"), _of_python),
    "virtualenv": _of_virtualenv,
    "uv": _of_uv,
    "cmake": _given_to("-B"),
}
# What these make in the folder that they run in, if it is not there yet.
_MADE: Final[dict[str, tuple[str, ...]]] = {
    "npm": ("node_modules",),
    "pnpm": ("node_modules",),
    "yarn": ("node_modules",),
    "cargo": ("target",),
    "pytest": (".pytest_cache",),
    "mypy": (".mypy_cache",),
    "ruff": (".ruff_cache",),
    "tox": (".tox",),
    "bundle": ("vendor/bundle",),
    "composer": ("vendor",),
    "make": ("build",),
    "tsc": ("dist",),
    "vite": ("dist",),
    "gradle": ("build", ".gradle"),
    "gradlew": ("build", ".gradle"),
    "mvn": ("target",),
}


def folders_made_by(argv: Sequence[str]) -> tuple[str, ...]:
    """The folders that the programs of a command make for what they build, from the folder that it runs in."""
    found = (joined(command.folder, folder) for command in commands_in(argv) for folder in _made_by(command))
    return tuple(dict.fromkeys(filter(None, found)))


def _made_by(command: ShellCommand) -> Iterator[str]:
    yield from _MADE.get(command.name, ())
    rule = _NAMED.get(_VERSION.sub("", command.name))
    if rule:
        yield from (word.text for word in rule([word for word in command.words if word]) if not word.is_pattern)
