"""The files that a shell command clearly writes: derived from its words, by one table. Unclear ones are left out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from commonhold.shell.commands import ShellCommand, commands_in, joined
from commonhold.shell.scripts import Word

Words = Sequence[Word]
_SEPARATOR: Final = Word("--")
_REPLACING: Final = frozenset(
    {"rm", "rmdir", "unlink", "mv", "sed", "gsed", "perl", "ln", "install", "npm", "pnpm", "yarn"}
)

_NAMING: Final = frozenset(
    {
        *("tee", "rm", "rmdir", "unlink", "touch", "mkdir", "truncate", "cp", "mv", "ln", "sed", "gsed", "dd", "sort"),
        *("black", "isort", "rustfmt", "ruff", "gofmt", "goimports", "prettier", "clang-format", "eslint"),
    }
)


@dataclass(frozen=True, slots=True)
class Target:
    """A path that is written, relative to the command's folder; a pattern stands for the files that match.

    `is_replaced`: the present content goes, even if it is a folder, and something else may come in its place.
    """

    path: str
    is_pattern: bool = False
    is_replaced: bool = False


def targets_of(argv: Sequence[str]) -> tuple[Target, ...]:
    """Return the files that a command writes, each once, in order."""
    found: dict[Target, None] = {}
    for command in commands_in(argv):
        for word in written_by(command):
            path = joined(command.folder, word.text)
            if path and not path.startswith("/dev/"):
                found[Target(path, word.is_pattern, command.name in _REPLACING)] = None
    return tuple(found)


def writes_what_it_names(command: ShellCommand) -> bool:
    """Whether a command writes exactly the files that `targets_of` returns: at least one, and no others."""
    return command.name in _NAMING and any(written_by(command))


def written_by(command: ShellCommand) -> Iterator[Word]:
    """Yield the files that one command writes, relative to its folder."""
    yield from command.targets
    rule = _RULES.get(command.name)
    if rule:
        yield from rule([word for word in command.words if word])


def _files(words: Words) -> Words:
    """Return all words that are no options."""
    at = words.index(_SEPARATOR) if _SEPARATOR in words else len(words)
    return [*(word for word in words[:at] if not word.text.startswith("-")), *words[at + 1 :]]


def _after_options(words: Words, valued: str) -> tuple[Words, dict[str, str]]:
    """Return the words without options, and the values of one-letter options that take one."""
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
    """Return the targets of `cp` and the like: a file, or the sources' own names in a folder."""
    rest, values = _after_options(words, "tmogS")
    if "t" in values:
        return [Word(f"{values['t'].rstrip('/')}/{_name(word)}") for word in rest]
    if len(rest) < 2:  # noqa: PLR2004 - a source and a target
        return []
    *sources, target = rest
    inside = [Word(f"{target.text.rstrip('/')}/{_name(word)}") for word in sources if not word.is_pattern]
    return [*inside] if target.text.endswith("/") or len(sources) > 1 else [target, *inside]


def _moved(words: Words) -> Words:
    """Return the files that `mv` writes or removes."""
    rest, values = _after_options(words, "tS")
    return [*(rest if "t" in values else rest[:-1]), *_last(words)]


def _name(word: Word) -> str:
    return word.text.rstrip("/").rpartition("/")[2]


def _edited_by_sed(words: Words) -> Words:
    if not any(word.text.startswith(("-i", "--in-place")) or _edits_in_place(word) for word in words):
        return []
    rest, values = _after_options(words, "efl")
    is_scripted = bool(values) or any(word.text.startswith(("--expression", "--file")) for word in words)
    return rest if is_scripted else rest[1:]


def _edited_by_perl(words: Words) -> Words:
    if not any(map(_edits_in_place, words)):
        return []
    return _files(words)[1:]  # after the script, or the script's file


def _edits_in_place(word: Word) -> bool:
    """Whether a word is the option `-i`, alone or with other letters and a suffix (`-pi.bak`)."""
    text = word.text
    return text.startswith("-") and not text.startswith("--") and "i" in text[1:].partition(".")[0]


def _written_with(*flags: str) -> Callable[[Words], Words]:
    """Return a rule for a formatter that rewrites files if one of `flags` is given; without `flags` it always does."""

    def rule(words: Words) -> Words:
        texts = {word.text for word in words}
        return _files(words) if not flags or texts.intersection(flags) else []

    return rule


def _given_to(*flags: str) -> Callable[[Words], Words]:
    """Return a rule for the words that follow one of `flags`."""

    def rule(words: Words) -> Words:
        return [then for flag, then in pairwise(words) if flag.text in flags]

    return rule


def _of_dd(words: Words) -> Words:
    return [Word(word.text.removeprefix("of=")) for word in words if word.text.startswith("of=")]


def _second(words: Words) -> Words:
    """Return the output of a program that takes an input and an output; a number is the value of an option."""
    return [word for word in _files(words) if not word.text.isdecimal()][1:2]


def _of_patch(words: Words) -> Words:
    rest, values = _after_options(words, "pioBdDFrVYz")
    return [*rest[:1], *([Word(values["o"])] if "o" in values else [])]


def _when(*cases: tuple[str, str]) -> Callable[[Words], Words]:
    """Return a rule for a program's own files, by its first words: `add *` is `add` with an argument."""
    table = {verb: files.split() for verbs, files in cases for verb in verbs.split(", ")}

    def rule(words: Words) -> Words:
        verb, *rest = [word.text for word in _files(words)] or [""]
        keys = (f"{verb} {rest[0]}" if rest else verb, f"{verb} *" if rest else verb)
        return [Word(file) for file in next((table[key] for key in keys if key in table), [])]

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
    "tree": _given_to("-o"),
    "uniq": _second,
    "xxd": _second,
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
    "npm": _when(
        ("install *, i *, add *, uninstall *, rm *, update, update *, init", "package.json package-lock.json"),
        ("install, i", "package-lock.json"),
    ),
    "pnpm": _when(
        ("install *, i *, add *, remove *, update, update *", "package.json pnpm-lock.yaml"),
        ("install, i", "pnpm-lock.yaml"),
    ),
    "yarn": _when(("add *, remove *, upgrade, upgrade *", "package.json yarn.lock"), ("install", "yarn.lock")),
    "cargo": _when(
        ("add *, remove *", "Cargo.toml Cargo.lock"),
        ("update, update *, generate-lockfile", "Cargo.lock"),
    ),
    "uv": _when(("add *, remove *", "pyproject.toml uv.lock"), ("lock, sync", "uv.lock")),
    "poetry": _when(("add *, remove *", "pyproject.toml poetry.lock"), ("lock, update, update *", "poetry.lock")),
    "go": _when(("get *, mod tidy, mod edit, mod init", "go.mod go.sum")),
}
