"""Names that no scope of the program defines: options, routes, aliases of imports, entries that a list knows by a key.

A compiler may accept two of one name. The parser of the command line, the router or the reader of the list takes one of
them, or fails when it runs.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Final

from tree_sitter import Node

from commonhold.merging.changed_rows import WORD, changed_rows, rows_with
from commonhold.merging.doubled import doubled
from commonhold.merging.layout import FileElement
from commonhold.merging.profile import Profile
from commonhold.merging.prose import lines_of
from commonhold.merging.syntax import field_text, text_of
from commonhold.merging.verdict import Reason, Spot

_OPTIONS: Final = re.compile(rb"(?:\A|\W)(?:add_(?:argument|option|flag)|addOption|option|requiredOption|arg|opt)\Z")
_NAMED: Final = re.compile(
    rb"(?:\A|\W)(?:gem|register|add_(?:parser|command|url_rule)|addCommand|command|subcommand|re_path|path|url|route"
    rb"|HandleFunc|Handle|(?:flags?|fs|pflag)\.(?:String|Bool|U?[Ii]nt(?:64)?|Float64|Duration)P?)\Z"
)
_ROUTED: Final = re.compile(rb"\W(?:get|post|put|patch|delete|head|all|Get|Post|Put|Patch|Delete|websocket)\Z")
_FLAGS: Final = re.compile(rb"(?:\A|\W)(?:flags?|fs|pflag)\.\w+\Z")
_METHODS: Final = re.compile(rb"\bmethods\s*=\s*\S+")
_FLAG: Final = re.compile(rb"-[\w-]+")
_TEXT: Final = re.compile(r"string(?:_literal)?\Z")
_QUOTED: Final = re.compile(rb"\A[rbufRBUF@$]{0,2}([\"'`]+)(.*?)\1\Z", re.DOTALL)
_MAPPINGS: Final = frozenset({"block_mapping", "dictionary", "flow_mapping", "object"})
_SEQUENCES: Final = frozenset({"array", "block_sequence_item", "flow_sequence", "list", "tuple"})
_WRAPPING: Final = frozenset({"block_node", "flow_node"})
_PAIRS: Final = frozenset({"block_mapping_pair", "flow_pair", "pair"})
_IDENTITY: Final = frozenset({b"id", b"key", b"name", b"slug"})
_REQUIRING: Final = re.compile(rb"dependencies|require|\Aextras\Z")
_REQUIREMENT: Final = re.compile(rb"\A([A-Za-z][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;@].*)?\Z", re.DOTALL)
_PORT: Final = re.compile(rb"-\s+[\"']?((?:[\d.]+:)?\d+):\d+")
_NAMES: Final = ("key", "left", "name")

Thing = tuple[bytes, ...]


def registered_twice(merged: FileElement, versions: tuple[FileElement, FileElement, FileElement]) -> Spot | None:
    """Return why the merge would give a name twice that calls, imports or keyed entries give; None if it would not."""
    words = [_new_words(versions[0], side) for side in versions[1:]]
    both = words[0] & words[1]
    if not both:
        return None
    twice = doubled(merged, versions, lambda each: _things(each, both))
    if not twice:
        return None
    shown = twice[0][-1].decode(errors="replace")
    return Spot(Reason.SAME_NAME, f"put together it would give {shown!r} twice in one place")


def _new_words(base: FileElement, side: FileElement) -> frozenset[bytes]:
    lines = lines_of(side.source)
    rows = changed_rows(base.source, side.source)[1].rows
    return frozenset(chain.from_iterable(WORD.findall(lines[row]) for row in rows))


def _things(element: FileElement, words: frozenset[bytes]) -> Iterator[Thing]:
    """Yield the names that stand on rows with one of the words, each with what gives it and the names around that."""
    for node in rows_with(element.source, words).nodes(element.node):
        if node.type in element.profile.calls or node.type in element.profile.method_calls:
            yield from _registered(node, element.profile)
        told = _GIVING.get(node.type)
        if told is not None:
            yield from told(node)
        if _TEXT.search(node.type):
            yield from _required(node)


def _registered(call: Node, profile: Profile) -> Iterator[Thing]:
    called = _called(call, profile)
    how = called if b"(" not in called else called.rpartition(b".")[2]
    if _FLAGS.search(called):  # an option of any type
        how = b"flag"
    given = [literal for each in _arguments(call) if (literal := _literal(each)) is not None]
    if not given:
        return
    is_decorator = call.parent is not None and call.parent.type == profile.decorator
    if _OPTIONS.search(called):
        flags = [flag for each in given for flag in _FLAG.findall(each) if each.startswith(b"-")]
        around = _definitions_around(call, profile)
        if is_decorator and (function := _decorated(call, profile)):
            around = (*around, function)
        yield from ((*around, how.rpartition(b".")[2], name) for name in dict.fromkeys(flags or given[:1]))
    elif _NAMED.search(called) or _is_route(call, called, given[0], is_decorator=is_decorator):
        methods = _METHODS.search(text_of(call))
        yield (*_definitions_around(call, profile), how, methods[0] if methods else b"", given[0])


def _is_route(call: Node, called: bytes, given: bytes, *, is_decorator: bool) -> bool:
    has_handler = is_decorator or len(list(_arguments(call))) > 1
    return given.startswith(b"/") and has_handler and _ROUTED.search(called) is not None


def _called(call: Node, profile: Profile) -> bytes:
    if call.type in profile.calls:
        return field_text(call, profile.calls[call.type])
    parts = (field_text(call, field) for field in ("object", "receiver", "name", "method"))
    return b".".join(part for part in parts if part)


def _arguments(call: Node) -> Iterator[Node]:
    for child in call.named_children:
        if "argument" in child.type:
            yield from (each for each in child.named_children if each.type != "comment")


def _literal(node: Node) -> bytes | None:
    if node.type == "argument" and node.named_children:
        node = node.named_children[-1]
    match = _QUOTED.match(text_of(node)) if _TEXT.search(node.type) else None
    return match[2] if match and match[2] else None


def _decorated(call: Node, profile: Profile) -> bytes:
    wrapper = call.parent.parent if call.parent is not None else None
    definition = wrapper.child_by_field_name(profile.wrapped) if wrapper is not None else None
    return field_text(definition, "name") if definition is not None else b""


def _definitions_around(node: Node, profile: Profile) -> Thing:
    found: list[bytes] = []
    each = node.parent
    while each is not None:
        if each.type in profile.definitions and each.type in profile.functions | profile.classes:
            found.append(field_text(each, "name"))
        each = each.parent
    return tuple(reversed(found))


def _around(node: Node) -> Thing:
    """Return the names of the definitions, keys and keyed entries around a node."""
    found: list[bytes] = []
    inner, each = node, node.parent
    while each is not None:
        named = next(filter(None, map(each.child_by_field_name, _NAMES)), None)
        if named is not None and named.id != inner.id:
            found.append(text_of(named))
        elif each.type in _MAPPINGS and _is_entry(each):
            found.append(_identity(each))
        inner, each = each, each.parent
    return tuple(reversed(found))


def _is_entry(mapping: Node) -> bool:
    """Whether a mapping is an entry of a list."""
    around = mapping.parent
    while around is not None and around.type in _WRAPPING:
        around = around.parent
    return around is not None and around.type in _SEQUENCES


def _identity(mapping: Node) -> bytes:
    pairs = (each for each in mapping.named_children if each.type in _PAIRS)
    known = next((each for each in pairs if _plain(field_text(each, "key")) in _IDENTITY), None)
    return field_text(known, "value") if known is not None else text_of(mapping).partition(b"\n")[0]


def _plain(text: bytes) -> bytes:
    return text.strip(b"\"'")


def _keyed(pair: Node) -> Iterator[Thing]:
    """Yield the key by which a list knows one of its entries."""
    key, mapping = _plain(field_text(pair, "key")), pair.parent
    if mapping is not None and mapping.type == "table_array_element":  # TOML has no fields
        named = [text_of(each) for each in (mapping.named_children[0], *pair.named_children)]
        if _plain(named[1]) in _IDENTITY:
            yield named[0], _plain(named[1]), named[-1]
    elif key in _IDENTITY and mapping is not None and mapping.type in _MAPPINGS and _is_entry(mapping):
        value = pair.child_by_field_name("value")
        if value is not None and not value.type.endswith(("mapping", "sequence")):
            yield (*_around(mapping), key, _plain(text_of(value)))


def _required(text: Node) -> Iterator[Thing]:
    """Yield the package that a text in a list of dependencies names."""
    around = text.parent
    pair = around.parent if around is not None and around.type in _SEQUENCES else None
    if pair is None or not pair.named_children:
        return
    name = _plain(text_of(next(filter(None, map(pair.child_by_field_name, _NAMES)), pair.named_children[0])))
    literal = _literal(text)
    package = _REQUIREMENT.match(literal) if literal is not None and _REQUIRING.search(name) else None
    if package is not None:
        yield name, re.sub(rb"[-_.]+", b"-", package[1]).lower()


def _published(item: Node) -> Iterator[Thing]:
    """Yield the port of the machine at which a container is reached."""
    pair = item.parent
    while pair is not None and pair.type not in _PAIRS:
        pair = pair.parent
    port = _PORT.match(text_of(item)) if pair is not None and field_text(pair, "key") == b"ports" else None
    if port is not None:
        yield b"ports", port[1]


def _specified(node: Node) -> Iterator[Thing]:
    """Yield the name that an import or export of a list gives."""
    given = node.child_by_field_name("alias") or node.child_by_field_name("name")
    kind = node.type.partition("_")[0].encode()
    if given is not None:
        yield kind, text_of(given)


def _used(node: Node) -> Iterator[Thing]:
    """Yield the name that a `use` of Rust gives: an alias, or the last word of its path."""
    around = node.parent
    if node.type == "use_as_clause":
        yield b"use", field_text(node, "alias")
    elif around is not None and around.type in {"use_declaration", "use_list"}:
        name = WORD.findall(text_of(node))[-1:]
        yield from ((b"use", each) for each in name if each not in {b"self", b"_"})


def _mapped(entries: Node) -> Iterator[Thing]:
    """Yield the key of an entry of a map that is made from a list of pairs."""
    outer = entries.parent
    made = outer.parent.parent if outer is not None and outer.type == "array" and outer.parent is not None else None
    if made is not None and made.type == "new_expression" and field_text(made, "constructor") == b"Map":
        key = text_of(entries.named_children[0]) if entries.named_children else b""
        yield (*_around(made), b"Map", _plain(key))


_GIVING: Final[Mapping[str, Callable[[Node], Iterator[Thing]]]] = {
    **dict.fromkeys(_PAIRS, _keyed),
    "array": _mapped,
    "block_sequence_item": _published,
    "export_specifier": _specified,
    "identifier": _used,
    "import_specifier": _specified,
    "scoped_identifier": _used,
    "use_as_clause": _used,
}
