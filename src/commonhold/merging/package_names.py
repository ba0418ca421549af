"""Names that both sides define anew in two files of one package, which a compiler or linker reads as one.

Each file is right alone, and no text of one side meets text of the other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from commonhold.merging.cross_file_interference import Bearing, FileChange
from commonhold.merging.given_names import names_given_by
from commonhold.merging.profile import Profile
from commonhold.merging.verdict import Reason, Spot

# The line that names the package of a file, by suffix. Without one, the files of a folder are a package.
_PACKAGES: Final = {
    "cs": rb"^\s*namespace\s+([\w.]+)\s*;",
    "go": rb"^package\s+(\w+)",
    "java": rb"^\s*package\s+([\w.]+)",
    "kt": rb"^\s*package\s+([\w.`]+)",
    "php": rb"^\s*namespace\s+([\w\\]+)\s*;",
    "scala": rb"^\s*package\s+([\w.`]+)",
}
_LINKED: Final = frozenset({"c", "cc", "cpp", "cxx"})
_SUFFIXES: Final = frozenset({*_PACKAGES, *_LINKED, "swift"})
# Packages of these are not bound to a folder.
_ANYWHERE: Final = frozenset({"cs", "php"})
_AROUND: Final = frozenset(
    {"compilation_unit", "declaration_list", "linkage_specification", "namespace_declaration", "namespace_definition"}
)
_LISTED: Final = frozenset({"const_declaration", "property_declaration", "type_declaration", "var_declaration"})
# Words before a definition that keep its name inside its file, or allow a second definition.
_OWN: Final = re.compile(rb"\b(?:static|inline|template|extern|private|fileprivate|file|actual|expect|consteval)\b")
_PARTIAL: Final = re.compile(rb"\bpartial\b")
_CONDITIONAL: Final = re.compile(rb"^(?://\s*\+build|//go:build|#if)", re.MULTILINE)
_ENTRIES: Final = frozenset({b"_", b"init", b"main", b"main()"})

Key = tuple[bytes, ...]
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Names:
    """The names that a file gives to its package, each with its row."""

    path: str
    suffix: str
    profile: Profile
    rows: dict[Key, int]

    @classmethod
    def of(cls, path: str, source: bytes, root: Node, profile: Profile) -> "_Names":
        """Collect the names of one version of a file."""
        suffix = path.rpartition(".")[2]
        found = cls(path, suffix, profile, {})
        if suffix in _SUFFIXES and not _CONDITIONAL.search(source):
            found._collect(root, found._package(source))
        return found

    def _package(self, source: bytes) -> Key:
        named = re.search(_PACKAGES[self.suffix], source, re.MULTILINE) if self.suffix in _PACKAGES else None
        name = named[1] if named else b""
        folder = self.path.rpartition("/")[0]
        is_anywhere = self.suffix in _ANYWHERE and name
        return (b"" if is_anywhere else folder.encode(), name)

    def _collect(self, node: Node, around: Key) -> None:
        for child in node.named_children:
            kind, name = child.type, self._name(child)
            if kind in _AROUND:
                named = child.child_by_field_name("name")
                is_open = kind not in {"namespace_declaration", "namespace_definition"} or named is not None
                if is_open:  # definitions in a namespace without a name stay in its file
                    self._collect(child, (*around, named.text or b"") if named is not None else around)
            elif self.suffix in _LINKED:
                if kind == "function_definition" and name not in _ENTRIES | {b""} and not _is_own(child):
                    self.rows.setdefault((*around, name), child.start_point.row)
            elif not _is_own(child):
                self._define(child, name, around)

    def _define(self, node: Node, name: bytes, around: Key) -> None:
        is_part = name.startswith(b"extension ") or _PARTIAL.search(_head(node)) is not None
        if is_part:
            for body in (each for each in node.named_children if each.type.endswith(("body", "_list"))):
                self._collect(body, (*around, b"in " + name.removeprefix(b"extension ")))
        elif name and name not in _ENTRIES:
            self.rows.setdefault((*around, name), node.start_point.row)
        elif node.type in _LISTED or node.type == "field_declaration":
            for given in (name for each in (node, *_below(node)) for name in names_given_by(each)):
                self.rows.setdefault((*around, given), node.start_point.row)

    def _name(self, node: Node) -> bytes:
        """Return the name of a definition; types with another number of parameters are others in C#."""
        naming = self.profile.naming.get(node.type)
        name = ((naming(node) if naming is not None else None) or "").encode()
        parameters = next((each for each in node.named_children if each.type == "type_parameter_list"), None)
        is_counted = name and parameters is not None and self.suffix == "cs"
        return name + b"`%d" % parameters.named_child_count if is_counted and parameters is not None else name


def _below(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        yield child
        yield from child.named_children


def _head(node: Node) -> bytes:
    return (node.text or b"").partition(b"{")[0]


def _is_own(node: Node) -> bool:
    """Whether a definition belongs to its file alone, by the words before its parameters and body."""
    return _OWN.search(re.split(rb"[({=]", node.text or b"", maxsplit=1)[0]) is not None


def given_in_two_files(ours: Sequence[FileChange], theirs: Sequence[FileChange]) -> Iterator[Bearing]:
    """Yield the names that each side newly gives one package, in different files."""
    mine, others = _new(ours), _new(theirs)
    for key in sorted(mine.keys() & others.keys()):
        (path, row), (other, there) = mine[key], others[key]
        if path != other:
            shown = key[-1].decode(errors="replace")
            why = f"both sides define {shown!r} in one package: one in {path}, the other in {other}"
            yield Bearing(path, other, Spot(Reason.SAME_NAME, why, ours=(row, row + 1), theirs=(there, there + 1)))


def _new(files: Sequence[FileChange]) -> Mapping[Key, Place]:
    found: dict[Key, Place] = {}
    for file in files if len({file.path.rpartition(".")[2] for file in files} & _SUFFIXES) else ():
        before, after = (
            _Names.of(file.path, each.source, each.node, each.profile).rows for each in (file.before, file.after)
        )
        for key in after.keys() - before.keys():
            found.setdefault(key, (file.path, after[key]))
    return found
