"""Which files and regions a task will change, predicted from its text, the definitions of the project and past commits.

The signs that speak for a file are numbers between 0 and 1; a logistic function of their weighted sum is the
probability that the task changes it. The weights were fitted on the histories of some projects and are measured on
others (`bench/plan_check.py`).
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Final, TypeVar

from commonhold.code.analysis.repository.library import Library
from commonhold.kernel.keys import FILE, HEADER

_K = TypeVar("_K")
_V = TypeVar("_V")

MOST_COMMITS: Final = 1_000
"""How many past commits count."""
_MOST_FILES: Final = 30
"""A past commit that changed more files than this says nothing about any of them."""
_HALF_LIFE: Final = 150
"""After so many further commits, a change counts half in the frequency of its file."""
_NEIGHBOURS: Final = 15
_LEAST: Final = 0.03
"""A file that is less probable is left out."""
_PROBABLE: Final = 0.4
"""A file that is so probable becomes a predicted key of its task."""
_MOST_PLACES: Final = 12
"""A name that is defined in more files than this names none of them."""
_NAMED: Final = 0.7
_NOT_NAMED: Final = 0.03
"""The probabilities that a region changes which the text names, and that others of the same file change then."""
_LEAST_LETTERS: Final = 3
_PATH: Final = re.compile(r"(?:[\w.@-]+/)*[\w.@-]*\w\.[A-Za-z][A-Za-z0-9]{0,5}\b|(?:[\w.@-]+/)+[\w-]+")
_CODE: Final = re.compile(r"`+([^`\n]+)`+")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_AS_CODE: Final = re.compile(r"\w_\w|^__?\w|[a-z0-9][A-Z]|\w\(|\w(?:\.|::|#)[A-Za-z_]")
_CHUNK: Final = re.compile(r"[\w.:#]+\(?")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]{3,}")
_ENDING: Final = re.compile(r"(?<=\w{4})(?:ings?|ed|es|s)$")
_COMMON: Final = frozenset(
    {
        *("add", "added", "adds", "all", "also", "and", "any", "are", "author", "authored", "branch", "but"),
        *("can", "change", "changed", "changes", "close", "closes", "code", "com", "commit", "does", "don"),
        *("file", "fix", "fixed", "fixes", "for", "from", "function", "get", "github", "has", "have", "into"),
        *("issue", "its", "make", "makes", "merge", "merged", "more", "new", "noreply", "not", "now", "off"),
        *("one", "only", "org", "our", "out", "per", "pull", "remove", "removed", "removes", "request", "see"),
        *("set", "should", "signed", "some", "than", "that", "the", "them", "then", "they", "this", "update"),
        *("updates", "use", "used", "users", "using", "via", "was", "when", "will", "with", "you", "your"),
    }
)


@dataclass(frozen=True, slots=True)
class PastCommit:
    """A commit of the past: its message, and the paths that it changed."""

    message: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """The state of a project that predictions are made for: its files, their definitions, its commits, newest first."""

    paths: Sequence[str]
    library: Library
    history: Sequence[PastCommit]


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs that speak for a file, each between 0 and 1."""

    path: float = 0.0
    """The text names it."""
    definition: float = 0.0
    """The text names, as code, something that it defines; less if other files define it too."""
    plain_definition: float = 0.0
    """The same for a name that may be a plain word of the text."""
    use: float = 0.0
    """It uses something that the text names as code; less if other files use it too."""
    path_words: float = 0.0
    """The share of the text's words, weighted by rarity, that stand in its path."""
    words: float = 0.0
    """The share of them that stand in its path or in the names of its definitions."""
    similar: float = 0.0
    """The share of the past commits with similar messages that changed it, by similarity."""
    together: float = 0.0
    """How often it changed together with a file that the text names."""
    frequency: float = 0.0
    """The share of past commits that changed it; newer ones count more."""


SIGNS: Final = tuple(each.name for each in fields(Signs))


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the signs, and `bias`, their sum for a file for which nothing speaks."""

    bias: float
    signs: tuple[float, ...]

    def probability(self, signs: Signs) -> float:
        """Return the probability that a file with these signs changes."""
        total = self.bias + sum(weight * sign for weight, sign in zip(self.signs, astuple(signs), strict=True))
        return 1 / (1 + math.exp(-total))


FITTED: Final = Weights(-4.59, (2.99, 1.77, 0.17, 2.70, 0.89, 2.96, 7.32, 0.16, 7.00))
"""Fitted to click, jinja and nix."""


@dataclass(frozen=True, slots=True)
class Touch:
    """A file that a task will change with some `probability`, and why, as a clause.

    `regions` has, for the header and each definition of the file, the probability that it changes if the file does;
    it is empty for a file without definitions. `named` are the regions that the text names.
    """

    path: str
    probability: float
    why: str = ""
    regions: Mapping[str, float] | None = None
    named: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Text:
    """A text, taken apart: its words; the names that are written as code, the others, and the file names in it."""

    words: frozenset[str]
    names: frozenset[str]
    plain_names: frozenset[str]
    paths: frozenset[str]


def likely_keys(touches: Iterable[Touch]) -> tuple[str, ...]:
    """Return the keys of the files that change more probably than not: of the regions that the text names, if any."""
    return tuple(
        f"{FILE}:{touch.path}#{name}" if name else f"{FILE}:{touch.path}"
        for touch in touches
        if touch.probability >= _PROBABLE
        for name in touch.named or ("",)
    )


def telling(history: Iterable[PastCommit]) -> list[PastCommit]:
    """Return the commits that changed some files, but not so many that they say nothing about any of them."""
    return [each for each in history if 0 < len(each.paths) <= _MOST_FILES]


class Predictor:
    """Predictions for one state of a project; made once, it answers for many tasks."""

    def __init__(self, project: Project, weights: Weights = FITTED) -> None:
        """Index the project."""
        self.project = project
        self._weights = weights
        self._library = project.library
        self._paths = frozenset(project.paths)
        self._definitions = {path: _definitions(project.library, path) for path in project.paths}
        self._path_words = {path: frozenset(_words(path)) for path in project.paths}
        self._words = {
            path: self._path_words[path].union(*(_words(name) for name in names))
            for path, names in self._definitions.items()
        }
        self._files_by_word = _inverted(self._words)
        self._by_ending: dict[str, list[str]] = defaultdict(list)
        for path in project.paths:
            self._by_ending[path.rpartition("/")[2]].append(path)
        self._history = telling(project.history[:MOST_COMMITS])
        messages = [frozenset(_words(each.message)) for each in self._history]
        self._commits_by_word = _inverted(dict(enumerate(messages)))
        count = len(self._history)
        self._rarity = {word: math.log(1 + count / len(found)) for word, found in self._commits_by_word.items()}
        self._lengths = [math.sqrt(sum(self._rarity[word] ** 2 for word in words)) or 1.0 for words in messages]
        self._frequency = self._frequencies()
        self._commits_of = _inverted({number: each.paths for number, each in enumerate(self._history)})

    def predict(self, text: str) -> tuple[Touch, ...]:
        """Return the files that a task with this text may change, the most probable first."""
        taken = _taken_apart(text)
        found = [
            (self._weights.probability(signs), path, signs, why) for path, (signs, why) in self._signs(taken).items()
        ]
        probable = sorted((each for each in found if each[0] >= _LEAST), key=lambda each: (-each[0], each[1]))
        return tuple(self._touch(taken, probability, path, why) for probability, path, _, why in probable)

    def signs(self, text: str) -> dict[str, Signs]:
        """Return the signs of all files for which any speaks; this is what the weights are fitted to."""
        return {path: signs for path, (signs, _) in self._signs(_taken_apart(text)).items()}

    def _signs(self, text: _Text) -> dict[str, tuple[Signs, str]]:
        named = self._named_paths(text)
        defined = self._defined(text.names)
        plainly = self._defined(text.plain_names)
        used = self._used(text)
        similar = self._similar(text)
        seeds = {path: max(named.get(path, 0.0), defined.get(path, (0.0,))[0]) for path in {**named, **defined}}
        together = self._together(seeds)
        by_path, by_words = self._worded(text)
        found = {}
        for path in {**named, **defined, **plainly, **used, **similar, **together, **by_words, **self._frequency}:
            if path in self._paths:
                definition, name = defined.get(path, (0.0, ""))
                plain, word = plainly.get(path, (0.0, ""))
                others = (used, by_path, by_words, similar, together, self._frequency)
                rest = (each.get(path, 0.0) for each in others)
                signs = Signs(named.get(path, 0.0), definition, plain, *rest)
                found[path] = signs, self._why(signs, name or word)
        return found

    def _why(self, signs: Signs, definition: str) -> str:
        """Return, as a clause, that the text names the file or a definition in it; else the sign that adds the most."""
        told = {
            "path": "the text names it",
            "definition": f"the text names {definition}, which it defines",
            "plain_definition": f"the text has {definition}, which it defines",
            "use": "it uses a name of the text",
            "path_words": "its path has words of the text",
            "words": "its definitions have words of the text",
            "similar": "commits with similar messages changed it",
            "together": "it changes together with a file that the text names",
            "frequency": "it changes often",
        }
        if signs.path or signs.definition:
            return told["path" if signs.path else "definition"]
        parts = zip(SIGNS, self._weights.signs, astuple(signs), strict=True)
        return told[max(parts, key=lambda part: part[1] * part[2])[0]]

    def _named_paths(self, text: _Text) -> dict[str, float]:
        found: dict[str, float] = {}
        for name in text.paths:
            ends = [
                path for path in self._by_ending.get(name.rpartition("/")[2], ()) if f"/{path}".endswith(f"/{name}")
            ]
            for path in ends:
                found[path] = max(found.get(path, 0.0), 1 / len(ends))
        return found

    def _defined(self, names: Iterable[str]) -> dict[str, tuple[float, str]]:
        """Return the files that define one of some names: one divided by their number, and the name."""
        found: dict[str, tuple[float, str]] = {}
        for name in names:
            places = [path for path in self._library.definers(name) if path in self._paths]
            for path in places if len(places) <= _MOST_PLACES else ():
                found[path] = max(found.get(path, (0.0, "")), (1 / len(places), name))
        return found

    def _used(self, text: _Text) -> dict[str, float]:
        found: dict[str, float] = {}
        for name in text.names:
            places = list(self._library.users(name))
            for path in places if len(places) <= _MOST_PLACES else ():
                found[path] = max(found.get(path, 0.0), 1 / len(places))
        return found

    def _worded(self, text: _Text) -> tuple[dict[str, float], dict[str, float]]:
        """Return the shares of the text's words, weighted by rarity, in each path, and in each file's names."""
        rarity = {
            word: math.log(1 + len(self._paths) / len(places))
            for word in text.words
            if (places := self._files_by_word.get(word))
        }
        total = sum(rarity.values()) + 1.0
        by_path: dict[str, float] = defaultdict(float)
        by_words: dict[str, float] = defaultdict(float)
        for word, weight in rarity.items():
            for path in self._files_by_word[word]:
                by_words[path] += weight / total
                if word in self._path_words[path]:
                    by_path[path] += weight / total
        return by_path, by_words

    def _similar(self, text: _Text) -> dict[str, float]:
        """Return, for each file, the share of the nearest past commits that changed it, weighted by similarity."""
        rarity = {word: self._rarity[word] for word in text.words & self._rarity.keys()}
        products: dict[int, float] = defaultdict(float)
        for word, weight in rarity.items():
            for number in self._commits_by_word[word]:
                products[number] += weight * weight
        own = math.sqrt(sum(weight * weight for weight in rarity.values())) or 1.0
        near = sorted(
            ((product / (own * self._lengths[number]), -number) for number, product in products.items()), reverse=True
        )[:_NEIGHBOURS]
        total = sum(similarity * similarity for similarity, _ in near)
        if not total:
            return {}
        best = near[0][0]
        found: dict[str, float] = defaultdict(float)
        for similarity, number in near:
            for path in self._history[-number].paths:
                found[path] += similarity * similarity / total * best
        return found

    def _together(self, seeds: Mapping[str, float]) -> dict[str, float]:
        found: dict[str, float] = {}
        for seed, strength in seeds.items():
            commits = self._commits_of.get(seed, ())
            counts = Counter(path for number in commits for path in self._history[number].paths if path != seed)
            for path, count in counts.items():
                found[path] = max(found.get(path, 0.0), strength * count / (len(commits) + 1))
        return found

    def _frequencies(self) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        total = 1.0
        for number, commit in enumerate(self._history):
            weight = 0.5 ** (number / _HALF_LIFE)
            total += weight
            for path in commit.paths:
                found[path] += weight
        return {path: weight / total for path, weight in found.items()}

    def _touch(self, text: _Text, probability: float, path: str, why: str) -> Touch:
        names = self._definitions[path]
        named = tuple(name for name in names if name.rpartition(".")[2] in text.names)
        return Touch(path, probability, why, _regions(names, named, text), named)


def _regions(names: Sequence[str], named: Sequence[str], text: _Text) -> dict[str, float]:
    """Return the probability of each region of a file to change if the file does.

    If the text names some of them, the others are hardly meant.
    """
    if not names:
        return {}
    if named:
        return {HEADER: 0.1, **{name: _NAMED if name in named else _NOT_NAMED for name in names}}
    base = min(0.9, 1.5 / len(names))
    found = {HEADER: 0.3}
    for name in names:
        own = frozenset(_words(name))
        shared = len(own & text.words) / len(own) if own else 0.0
        found[name] = min(0.9, base + 0.2 * shared)
    return found


def _definitions(library: Library, path: str) -> tuple[str, ...]:
    summary = library.summary(path)
    return () if summary is None else tuple(dict.fromkeys(offer.qualname for offer in summary.offers))


def _taken_apart(text: str) -> _Text:
    names = {name for code in _CODE.findall(text) for name in _NAME.findall(code) if len(name) >= _LEAST_LETTERS}
    plain: set[str] = set()
    for chunk in _CHUNK.findall(text):
        found = [name for name in _NAME.findall(chunk) if len(name) >= _LEAST_LETTERS]
        if _AS_CODE.search(chunk):
            names.update(found)
        else:
            plain.update(name for name in found if name.lower() not in _COMMON)
    paths = frozenset(each.removeprefix("./") for each in _PATH.findall(text))
    return _Text(frozenset(_words(text)), frozenset(names), frozenset(plain - names), paths)


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text, those inside of identifiers too, in small letters and without common endings."""
    for part in _PART.findall(text):
        word = part.lower()
        if len(word) >= _LEAST_LETTERS and word not in _COMMON:
            yield _ENDING.sub("", word)


def _inverted(parts: Mapping[_K, Iterable[_V]]) -> dict[_V, list[_K]]:
    found: dict[_V, list[_K]] = defaultdict(list)
    for key, values in parts.items():
        for value in values:
            found[value].append(key)
    return found
