"""The result of discovery: regions that tile one file, and the problems met on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from commonhold.kernel.keys import CONTAINERS, Key, Kind, Names

if TYPE_CHECKING:
    import tree_sitter

Span = tuple[int, int]

_PARAMETERS: Final = re.compile(r"(?<=[^.])\([^.]*\)(?=\.|\Z)")
_BODIES: Final = frozenset({Kind.FUNCTION, Kind.METHOD, Kind.ENTRY, Kind.PARAGRAPH})


@dataclass(frozen=True, slots=True)
class Region:
    """A syntactic unit of one file. `spans` are half-open byte ranges, in file order.

    `hash` is the SHA-256 of the bytes of a region of one piece; a header's covers its spans, each preceded by its
    length, so that bytes cannot wander between spans unseen.
    """

    key: Key
    kind: Kind
    parent: Key | None
    spans: tuple[Span, ...]
    hash: str

    @property
    def id(self) -> str:
        """The form `kind::path::qualified_name`."""
        return f"{self.kind}::{self.key.file_path}::{self.key.qualname}"

    @property
    def is_definition(self) -> bool:
        """Whether this is a named piece of a file, as a function or a class is: neither a header nor the file."""
        return self.kind in _BODIES or self.kind in CONTAINERS

    @property
    def is_body(self) -> bool:
        """Whether this is a definition that holds no others."""
        return self.kind in _BODIES

    @property
    def is_container(self) -> bool:
        """Whether this holds definitions: a class, a section, or the file."""
        return self.kind is Kind.FILE or self.kind in CONTAINERS

    @property
    def start(self) -> int:
        """The first byte."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """The byte after the last."""
        return self.spans[-1][1]


PARSE_BUDGET: Final = "PARSE_BUDGET"
"""The code of the problem that a file's syntax takes too much work to read."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A part that discovery could not read, and its place."""

    code: str
    message: str
    span: Span


@dataclass(frozen=True)
class RegionMap:
    """The regions of one file, computed from its bytes. `regions` is in file order, containers before contents.

    `body_ends` says where a definition is added to a container, unless its body is on the line of its name. `tree` is
    kept for `rediscover` alone; it is not sent to other processes.
    """

    path: str
    language: str
    source: bytes
    regions: tuple[Region, ...]
    problems: tuple[Problem, ...] = ()
    body_ends: Mapping[Key, int] = field(default_factory=dict, compare=False, repr=False)
    tree: tree_sitter.Tree | None = field(default=None, compare=False, repr=False)

    @property
    def exceeds_budget(self) -> bool:
        """Whether the file is one region because its syntax takes too much work to read."""
        return any(each.code == PARSE_BUDGET for each in self.problems)

    def __getstate__(self) -> dict[str, object]:
        """Return the state to copy or to send to another process: all but the syntax tree."""
        return {**self.__dict__, "tree": None}

    @cached_property
    def inline_classes(self) -> frozenset[Key]:
        """The containers with their body on the line of their name: nothing can be inserted into them."""
        return frozenset(
            each.key for each in self.regions if each.kind in CONTAINERS and each.key not in self.body_ends
        )

    @cached_property
    def by_key(self) -> Mapping[Key, Region]:
        """Every region by its canonical key."""
        return {region.key: region for region in self.regions}

    @cached_property
    def by_bare_key(self) -> Mapping[Key, tuple[Region, ...]]:
        """The regions of each name, in file order, by their keys without ordinals."""
        found: dict[Key, list[Region]] = {}
        for region in self.regions:
            found.setdefault(region.key.bare(), []).append(region)
        return {key: tuple(regions) for key, regions in found.items()}

    @cached_property
    def by_plain_name(self) -> Mapping[str, tuple[Region, ...]]:
        """The definitions and headers by any accepted spelling, see `plain_name`."""
        found: dict[str, list[Region]] = {}
        for region in self.regions[1:]:
            found.setdefault(plain_name(region.key.names), []).append(region)
        return {name: tuple(regions) for name, regions in found.items()}

    @cached_property
    def by_span(self) -> Mapping[Span, Region]:
        """The definitions by the bytes that they span."""
        return {region.spans[0]: region for region in self.regions if region.is_definition}

    @cached_property
    def defined_names(self) -> frozenset[bytes]:
        """The names of all definitions, in UTF-8, without their containers."""
        return frozenset(region.key.names[-1].text.encode() for region in self.regions if region.is_definition)

    @cached_property
    def file(self) -> Region:
        """The region of the whole file."""
        return self.regions[0]

    def leaves(self) -> Iterator[Region]:
        """Yield the regions that tile the file: each byte belongs to exactly one."""
        has_parts = len(self.regions) > 1
        return (
            region
            for region in self.regions
            if region.kind not in CONTAINERS and not (has_parts and region.kind is Kind.FILE)
        )

    def bytes_of(self, region: Region) -> bytes:
        """Return the region's bytes; a header's spans are joined."""
        return b"".join(map(self.cut, region.spans))

    def cut(self, span: Span) -> bytes:
        """Return the bytes of a span."""
        return self.source[slice(*span)]


def plain_name(names: Names) -> str:
    """Return a name in its shortest spelling: without ordinals and parameter types, with dots for colons."""
    return _PARAMETERS.sub("", ".".join(name.text for name in names).replace(":", "."))


def hash_bytes(data: bytes) -> str:
    """Return the content hash: SHA-256, 64 hex digits."""
    return sha256(data).hexdigest()


def hash_of(content: bytes | None) -> str | None:
    """Return the content hash of a file; None if there is no file."""
    return None if content is None else hash_bytes(content)


def hash_spans(source: bytes, spans: Iterable[Span]) -> str:
    """Return the hash of a header: SHA-256 over each span's length (8 bytes, big-endian) and bytes."""
    digest = sha256()
    for start, end in spans:
        digest.update((end - start).to_bytes(8, "big"))
        digest.update(source[start:end])
    return digest.hexdigest()
