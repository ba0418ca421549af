"""Keys: the unique names of resources, and whether two of them overlap.

Text forms (docs/reference.md, "Keys"): `file:src/a.py`, `file:src/` (a folder), `file:src/a.py#C.m~2` (a region), and
`account:12345` for anything but code; `account:*` for all of a scheme. `parse` also takes a plain path,
`PATH#QUALNAME`, `PATH::QUALNAME`, the region id `kind::PATH::QUALNAME`, and a path with wildcards, which means the
folder before the first of them: overlap of two folders is decidable at once, that of two globs is not. In a name,
`%2E` stands for a dot.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from commonhold.kernel.errors import Code, InputError

FILE: Final = "file"
HEADER: Final = "@header"
MAX_KEY_LENGTH: Final = 4096


class Kind(StrEnum):
    """The kind of a region: an attribute of the region, never a part of its key."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    CLASS_HEADER = "class_header"
    SECTION = "section"
    SECTION_HEADER = "section_header"
    ENTRY = "entry"
    PARAGRAPH = "paragraph"
    SHARED_HEADER = "shared_header"
    FILE = "file"
    FOLDER = "folder"


# Containers of definitions inside a file, each with the kind of its header.
CONTAINERS: Final = {Kind.CLASS: Kind.CLASS_HEADER, Kind.SECTION: Kind.SECTION_HEADER}


@dataclass(frozen=True, slots=True, order=True)
class Name:
    """One segment of a qualified name. `ordinal` counts equal names from 1; 0 means the only one, or all of them."""

    text: str
    ordinal: int = 0

    def __str__(self) -> str:
        text = _MEANT_IN_NAME.sub(_to_hex, self.text)
        return f"{text}~{self.ordinal}" if self.ordinal else text

    def overlaps(self, other: "Name") -> bool:
        """Whether both may mean one definition: a bare name covers all its ordinals."""
        return self.text == other.text and (self.ordinal == other.ordinal or not (self.ordinal and other.ordinal))


Names = tuple[Name, ...]


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """A canonical key. `path` holds the segments of a path, or of a free key; `names` a region inside a file.

    A free key without segments is its whole scheme.
    """

    scheme: str
    path: tuple[str, ...]
    names: Names = ()
    is_folder: bool = False

    def __str__(self) -> str:
        if self.scheme != FILE:
            parts = [_MEANT.sub(_to_hex, part) for part in self.path] or [_ALL]
            return ":".join((self.scheme, *parts))
        tail = "#" + ".".join(map(str, self.names)) if self.names else ""
        return f"{FILE}:{_MEANT_IN_PATH.sub(_to_hex, self.file_path)}{tail}"

    @property
    def file_path(self) -> str:
        """The path relative to the root, `/`-separated; a folder's ends in `/`, the root's is `./`."""
        text = "/".join(self.path)
        return (text or ".") + "/" if self.is_folder else text

    @property
    def qualname(self) -> str:
        """The region's qualified name with ordinals, or the empty string for a whole file."""
        return ".".join(map(str, self.names))

    @property
    def is_region(self) -> bool:
        """Whether this names a part of a file."""
        return bool(self.names)

    @property
    def first_name(self) -> str:
        """The outermost name of a region, or the empty string for a whole file."""
        return self.names[0].text if self.names else ""

    @property
    def is_header(self) -> bool:
        """Whether this names the header of a file or of a class."""
        return bool(self.names) and self.names[-1].text == HEADER

    @property
    def file(self) -> "Key":
        """The key of the whole file that this region lies in."""
        return Key(self.scheme, self.path, (), self.is_folder)

    def at(self, path: str) -> "Key":
        """The key of the same region in the file at the canonical `path`."""
        return Key(self.scheme, tuple(path.split("/")), self.names)

    def child(self, name: Name) -> "Key":
        """The key of the region `name` directly inside this file or class."""
        return Key(self.scheme, self.path, (*self.names, name))

    def upward(self) -> Iterator["Key"]:
        """This key, then those around it within the file, the file's own last."""
        return (
            Key(self.scheme, self.path, self.names[:size], self.is_folder) for size in range(len(self.names), -1, -1)
        )

    def bare(self) -> "Key":
        """The same key without ordinals."""
        return Key(self.scheme, self.path, tuple(Name(name.text) for name in self.names), self.is_folder)


def file_key(path: str) -> Key:
    """The key of the file at a path relative to the root, normalised by its letters only."""
    return Spec(FILE, path).key()


def segment_of(name: str, entries: Iterable[str]) -> str:
    """Return the segment of a key for the entry `name` of a folder with these `entries`: its composed form (NFC).

    Entries that differ only in their Unicode form keep the form they have on the disk, as does a unit sign that would
    be composed to a plain letter (Kelvin's to K).
    """
    composed = name if name.isascii() else unicodedata.normalize("NFC", name)
    if composed.isascii():
        return name
    is_alone = all(each == name for each in entries if unicodedata.normalize("NFC", each) == composed)
    return composed if is_alone else name


def pattern_key(text: str) -> Key:
    """Return the key of a pattern in the settings, in composed Unicode form. Raises as `parse`."""
    return parse(unicodedata.normalize("NFC", text)).key()


@lru_cache(maxsize=65536)
def canonical(text: str) -> Key:
    """Return the key of a text that `str(key)` made; cached, since every comparison of leases needs it."""
    return parse(text).key()


def overlaps(left: Key, right: Key) -> bool:
    """Whether two keys may cover a common byte or a common resource: the one rule of conflict between keys.

    A path overlaps all paths below it: a name leased as a file may become a folder, and both cannot exist. A
    file overlaps all its regions, its header too; a class overlaps all that it contains, its header itself and its
    containers, not the methods; a leaf overlaps itself. Symmetric.
    """
    if left.scheme != right.scheme:
        return False
    shorter, longer = (left, right) if len(left.path) <= len(right.path) else (right, left)
    if longer.path[: len(shorter.path)] != shorter.path:
        return False
    if len(shorter.path) < len(longer.path):
        return True
    if left.is_folder or right.is_folder or _is_shared_header(left.names) or _is_shared_header(right.names):
        return True
    return all(mine.overlaps(theirs) for mine, theirs in zip(left.names, right.names, strict=False))


def _is_shared_header(names: Names) -> bool:
    return len(names) == 1 and names[0].text == HEADER


def contains(outer: Key, inner: Key) -> bool:
    """Whether `outer` is `inner` or a container of it, so that a lease on `outer` covers all of `inner`."""
    if outer.scheme != inner.scheme or inner.path[: len(outer.path)] != outer.path:
        return False
    if outer.is_folder:
        return True
    if len(outer.path) < len(inner.path):
        return outer.scheme != FILE
    if inner.is_folder or len(outer.names) > len(inner.names):
        return False
    return all(
        mine.text == theirs.text and mine.ordinal in (0, theirs.ordinal)
        for mine, theirs in zip(outer.names, inner.names, strict=False)
    )


@dataclass(frozen=True, slots=True)
class Spec:
    """A key as written: the path is not normalised yet, and the kind (if given) not checked.

    `literals` are other readings of the same text, such as the name of a file with a wildcard or a `::` in it. The
    first of them whose file exists takes precedence.
    """

    scheme: str
    raw_path: str
    names: Names = ()
    kind: Kind | None = None
    is_plain: bool = False
    literals: tuple["Spec", ...] = ()

    def key(self) -> Key:
        """The key by letters alone: `.`, `..` and doubled slashes, but no links, no disk.

        In a free key, equal names in two Unicode forms are one. In a path they may be two files: only the disk decides
        that (`segment_of`).
        """
        if self.scheme != FILE:
            parts = self.raw_path.split(":") if self.raw_path else []
            return Key(self.scheme, tuple(unicodedata.normalize("NFC", _ESCAPE.sub(_from_hex, part)) for part in parts))
        segments = _normal_segments(self.raw_path)
        is_folder = self.raw_path.endswith("/") or not segments or self.kind is Kind.FOLDER
        if is_folder and self.names:
            raise _invalid(self.raw_path, "a folder has no regions")
        return Key(FILE, segments, self.names, is_folder)


_ID: Final = re.compile(rf"({'|'.join(Kind)})::(.+)", re.DOTALL)
_SCHEME: Final = re.compile(r"([a-z][a-z0-9_+.-]*):(?!:)(.*)", re.DOTALL)
_NAME: Final = re.compile(r"(.+?)(?:~([1-9][0-9]{0,5}))?", re.DOTALL)
# As pytest names its tests: the parameters stand in brackets and are not part of the name.
_PARAMETER: Final = re.compile(r"(.*?::[^/\[]*)\[.*\]", re.DOTALL)
_ALL: Final = "*"
_WILDCARD: Final = re.compile(r"[*?]")
_ESCAPE: Final = re.compile(r"%(25|2A|3F)")
_ESCAPE_IN_NAME: Final = re.compile(r"%(25|2E|2F|3A|7E)")
_ESCAPE_IN_PATH: Final = re.compile(r"%(23|25|2A|3A|3F)")
# Characters that are escaped in the text of a key, where they have another meaning.
_MEANT: Final = re.compile(r"%(?=25|2A|3F)|[*?]")
_MEANT_IN_NAME: Final = re.compile(r"%(?=25|2E|2F|3A|7E)|[./]|~(?=[1-9][0-9]{0,5}\Z)|^:|(?<=:):")
_MEANT_IN_PATH: Final = re.compile(r"%(?=23|25|2A|3A|3F)|[*?#]|^:|(?<=:):")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def can_be_named(path: str) -> bool:
    """Whether a key can name this path: other names are not printable text."""
    return path.isprintable() or _CONTROL.search(path) is None


@lru_cache(maxsize=16384)
def parse(text: str) -> Spec:
    """Read any form of a key.

    Raises InputError `KEY_INVALID` if it is no key, and `PATH_INVALID` for a path with control characters or
    with bytes that are not UTF-8.
    """
    if not text or len(text) > MAX_KEY_LENGTH:
        raise _invalid(text, "a key has 1 to 4096 characters")
    if match := _CONTROL.search(text):
        raise InputError(
            Code.PATH_INVALID,
            f"the key {text!r} holds {match.group()!r}, which is a control character or not valid UTF-8",
            hint="rename the file to a name of printable UTF-8 characters, or lease its folder instead",
            fields={"key": ascii(text)},
        )
    if match := _ID.fullmatch(text):
        return _from_id(Kind(match[1]), match[2])
    if match := _SCHEME.fullmatch(text):
        return _from_scheme(text, match[1], match[2])
    return replace(_code(text, str), is_plain=True)


def parse_names(qualname: str) -> Names:
    """Read `C.m~2` into its names; the empty string gives none. Raises InputError `KEY_INVALID`."""
    names: list[Name] = []
    for part in qualname.split(".") if qualname else ():
        # As Python does it: identifiers are compared in their NFKC form.
        match = _NAME.fullmatch(part if part.isascii() else unicodedata.normalize("NFKC", part))
        if match is None:
            raise _invalid(qualname, "a qualified name has no empty part")
        names.append(Name(_ESCAPE_IN_NAME.sub(_from_hex, match[1]), int(match[2] or 0)))
    return tuple(names)


def _from_id(kind: Kind, text: str) -> Spec:
    readings = [Spec(FILE, path, _names_of(kind, qualname), kind) for path, qualname in _splits(text)]
    *literals, found = readings or [Spec(FILE, text, _names_of(kind, ""), kind)]
    return replace(found, literals=tuple(literals))


def _names_of(kind: Kind, qualname: str) -> Names:
    names = parse_names(qualname)
    if kind in (Kind.SHARED_HEADER, *CONTAINERS.values()) and (not names or names[-1].text != HEADER):
        return (Name(HEADER),) if kind is Kind.SHARED_HEADER else (*names, Name(HEADER))
    return names


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """The path and the qualified name at each `::`, the longest path first: a path may hold a `::`, too."""
    parts = text.split("::")
    end = len(parts) if parts[-1] else -1
    for size in range(len(parts) - 1, 0, -1):
        path, qualname = "::".join(parts[:size]), ".".join(parts[size:end])
        if path and "/" not in qualname and not qualname.startswith(":"):
            yield path, qualname


def _from_scheme(text: str, scheme: str, rest: str) -> Spec:
    if not rest or (scheme != FILE and "" in rest.split(":")):
        raise _invalid(text, "a part between colons is empty")
    if scheme != FILE:
        return Spec(scheme, _below_scheme(text, rest))
    if rest.startswith("#"):
        marked = rest.replace("#", "%23")
        raise _invalid(text, "the path is empty", f"if # is part of a file's name, write {FILE}:{marked}")
    return _code(rest, _unescaped_path)


def _below_scheme(text: str, rest: str) -> str:
    """The parts of a free key without a final `*`: a key contains all that is below it anyway."""
    parts = rest.removesuffix(f":{_ALL}") if rest != _ALL else ""
    if _WILDCARD.search(parts):
        raise _invalid(
            text,
            "a wildcard stands for whole parts, at the end",
            "end the key with :* to mean all below it; for the characters themselves write %2A (*) and %3F (?)",
        )
    return parts


def _code(text: str, read: Callable[[str], str]) -> Spec:
    """A file, a folder or a region; `read` gives the path that letters mean."""
    path, mark, qualname = text.partition("#")
    parameter = _PARAMETER.fullmatch(path)
    splits = [] if mark else list(_splits(parameter[1] if parameter else path))
    if not splits:
        return _path(path, parse_names(qualname), read)
    *longer, (shortest, rest) = splits
    found = _path(shortest, parse_names(rest), read)
    others = [Spec(FILE, read(start), parse_names(names)) for start, names in ((path, ""), *longer)]
    return replace(found, literals=(*others, *found.literals))


def _path(path: str, names: Names, read: Callable[[str], str]) -> Spec:
    literal = Spec(FILE, read(path), names)
    wildcard = _WILDCARD.search(path)
    if wildcard is None:
        return literal
    folder = path[: path.rfind("/", 0, wildcard.start()) + 1]
    if ".." in path[len(folder) :].split("/"):
        raise _invalid(path, ".. after a wildcard names no certain folder", "name the folder that contains all of it")
    return Spec(FILE, read(folder) or "./", names, literals=(literal,))


def _normal_segments(path: str) -> tuple[str, ...]:
    segments: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not segments:
                raise outside(path)
            segments.pop()
        elif part not in ("", "."):
            segments.append(part)
    return tuple(segments)


def outside(path: str) -> InputError:
    """The error for a path that leaves the repository."""
    return InputError(
        Code.PATH_OUTSIDE,
        f"the path {path!r} leads out of the repository",
        hint="name a path inside the repository, relative to its root",
        fields={"path": path},
    )


def _unescaped_path(path: str) -> str:
    return _ESCAPE_IN_PATH.sub(_from_hex, path)


def _from_hex(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def _to_hex(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):X}"


def _invalid(text: str, why: str, hint: str = "") -> InputError:
    return InputError(
        Code.KEY_INVALID,
        f"{text[:200]!r} is not a key: {why}",
        hint=hint or "write file:PATH, file:PATH#QUALNAME, a plain path, or scheme:name",
        fields={"key": text[:200]},
    )
