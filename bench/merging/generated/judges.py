"""Judges: what the front end of a language complains of in a text. Those here run in this process."""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import yaml

Complaints = Counter[str]
"""What a front end says against a text, without line numbers: how often each sentence."""

_TY_LINE: Final = re.compile(r"(?:.*/)?text(\d+)\.py:\d+:\d+: (error.*)")
_TY: Final = Path(sys.executable).with_name("ty")


class Judge(Protocol):
    """A front end. `place` is where the text is from, for what it refers to."""

    def complaints(self, place: Path, texts: Sequence[bytes]) -> list[Complaints]:
        """What is said against each text; nothing where it is accepted."""


def is_accepted(changed: Complaints, *allowed: Complaints) -> bool:
    """Whether nothing is said against a text that is not said against one of the others as well."""
    most = Counter[str]()
    for each in allowed:
        most |= each
    return not changed - most


@dataclass(frozen=True)
class Reader:
    """A judge that reads a text with a function, which raises ValueError (or what is said) where it refuses one."""

    read: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = (ValueError, SyntaxError)

    def complaints(self, _place: Path, texts: Sequence[bytes]) -> list[Complaints]:
        """The message of the refusal."""
        return [self._complaints(text) for text in texts]

    def _complaints(self, text: bytes) -> Complaints:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.read(text)
        except self.refusals as error:
            return Counter([re.sub(r"\d+", "N", str(error).partition(" (")[0])])
        return Counter()


def read_python(text: bytes) -> object:
    """Compile Python."""
    return compile(text, "text", "exec", dont_inherit=True)


def read_json(text: bytes) -> object:
    """Read JSON in which no object has a key twice."""
    return json.loads(text, object_pairs_hook=_without_doubles)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def read_toml(text: bytes) -> object:
    """Read TOML."""
    return tomllib.loads(text.decode())


def read_yaml(text: bytes) -> object:
    """Read the YAML documents of a text, in which no mapping has a key twice."""
    return list(yaml.load_all(text, Loader=_StrictLoader))


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key that stands twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len({*keys}) < len(keys):
            raise yaml.MarkedYAMLError(problem="a key stands twice", problem_mark=node.start_mark)
        return super().construct_mapping(node, deep)


PYTHON: Final = Reader(read_python)
JSON: Final = Reader(read_json)
TOML: Final = Reader(read_toml)
YAML: Final = Reader(read_yaml, (yaml.YAMLError, ValueError))


class Typed:
    """Python's compiler, then the type checker ty for what compiles."""

    def complaints(self, place: Path, texts: Sequence[bytes]) -> list[Complaints]:
        """What either says."""
        found = PYTHON.complaints(place, texts)
        with tempfile.TemporaryDirectory(prefix="judge-python-") as folder:
            for number, text in enumerate(texts):
                (Path(folder) / f"text{number}.py").write_bytes(text)
            command = [str(_TY), "check", "--output-format", "concise", "--exit-zero", "--color", "never", folder]
            told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout  # noqa: S603
        for line in told.splitlines():
            if said := _TY_LINE.match(line):
                found[int(said[1])][re.sub(r"text\d+", "text", said[2])] += 1
        return found


def leaves(value: object, path: tuple[str, ...] = ()) -> Iterable[tuple[tuple[str, ...], str]]:
    """Each value of a document that holds no others, with the keys that lead to it. Of lists the place is left out."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, (*path, str(key)))
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each, (*path, "[]"))
    else:
        yield path, repr(value)


def lost(read: Callable[[bytes], object], base: bytes, ours: bytes, theirs: bytes, merged: bytes) -> Complaints:
    """What a merge of documents lost: values that a side put in and that are not there, or took out and that are."""
    before, mine, others, now = (Counter(leaves(read(text))) for text in (base, ours, theirs, merged))
    found = Complaints()
    for side, other in ((mine, others), (others, mine)):
        for leaf in side - before:
            if now[leaf] < side[leaf] and not other[leaf] < before[leaf]:
                found[f"lost: {leaf}"] += 1
        for leaf in before - side:
            if now[leaf] > max(side[leaf], other[leaf] - before[leaf] + side[leaf]):
                found[f"back again: {leaf}"] += 1
    return found
