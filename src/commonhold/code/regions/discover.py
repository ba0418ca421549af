"""From bytes to regions that tile them. Total: any bytes give an answer, unreadable parts become problems."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

import tree_sitter

from commonhold.code.regions.budget import BudgetExceededError
from commonhold.code.regions.encoding import as_utf8, encoding_of
from commonhold.code.regions.incremental_parse import Change, edited
from commonhold.code.regions.indented import outline_indented, outline_of
from commonhold.code.regions.language import Language, parse
from commonhold.code.regions.languages import TEXT, language_for
from commonhold.code.regions.lines import line_end, line_start
from commonhold.code.regions.outline import TOP, Definition, Outline
from commonhold.code.regions.region import PARSE_BUDGET, Problem, Region, RegionMap, Span, hash_bytes, hash_spans
from commonhold.code.regions.shifted_regions import shifted
from commonhold.kernel.keys import CONTAINERS, HEADER, Key, Kind, Name, file_key

BINARY: Final = "binary"
_HEADER_NAME: Final = Name(HEADER)


def discover(source: bytes, path: str = "module.py") -> RegionMap:
    """Return the regions of a file. Its leaves tile it: every byte lies in exactly one; all keys are unique.

    `path` is relative to the repository's root. Never fails on any `source`; if it cannot be parsed, the map holds the
    sound part, and `problems` (codes SYNTAX, ENCODING, PARSE_BUDGET) says where the rest begins. Spans are byte
    offsets. A file whose syntax takes too much work to read (PARSE_BUDGET) is one region.
    """
    language = language_for(path, source)
    if language is not None:
        return _discover(path, language, source, None)
    if b"\0" in source:
        return _whole(path, BINARY, source)
    found = _discover(path, TEXT, source, None)
    # The file promised no encoding: bytes that are not UTF-8 are as good as any.
    return replace(found, problems=()) if found.problems else found


def rediscover(before: RegionMap, source: bytes) -> RegionMap:
    """Equal to `discover(source, before.path)`, but quicker where `source` differs from `before` in one place."""
    language = language_for(before.path, source)
    if before.tree is None or language is None or language.name != before.language:
        return discover(source, before.path)
    return _discover(before.path, language, source, before)


def _discover(path: str, language: Language, source: bytes, before: RegionMap | None) -> RegionMap:
    encoding = encoding_of(source, language)
    try:
        text = as_utf8(source, encoding)
    except UnicodeError as error:
        problem = Problem("ENCODING", f"the file is not valid {encoding.codec}: {error}", (0, len(source)))
        return replace(_whole(path, language.name, source), problems=(problem,))
    try:
        if text is not source:
            return _mapped(path, language, source, _carried_back(language.outline(text, language, None), text, source))
        if before is not None and before.tree is not None:
            return _changed(before, before.tree, language, source)
        return _mapped(path, language, source, language.outline(source, language, None))
    except BudgetExceededError as error:
        problem = Problem(PARSE_BUDGET, f"{error}: the file is one region", (0, len(source)))
        return replace(_whole(path, language.name, source), problems=(problem,))


def _changed(before: RegionMap, tree: tree_sitter.Tree, language: Language, source: bytes) -> RegionMap:
    change = Change.between(before.source, source)
    old = edited(tree, before.source, source, change)
    if language.outline is outline_indented:
        new = parse(source, language, old)
        if found := shifted(before, source, language, change, (old, new)):
            return found
        if not new.root_node.has_error:
            return _mapped(before.path, language, source, outline_of(new, source, language))
    return _mapped(before.path, language, source, language.outline(source, language, old))


def _mapped(path: str, language: Language, source: bytes, found: Outline) -> RegionMap:
    problems = (found.problem,) if found.problem else ()
    if found.is_whole:
        return replace(_whole(path, language.name, source), problems=problems)
    return replace(_tiled(path, language, source, found), problems=problems, tree=found.tree)


def _carried_back(found: Outline, text: bytes, source: bytes) -> Outline:
    """Map the outline of the UTF-8 form `text` back to the source, line by line; its spans are whole lines."""
    from_starts, to_starts = _line_starts(text), _line_starts(source)

    def back(span: Span) -> Span:
        start, end = (to_starts[bisect_left(from_starts, position)] for position in span)
        return start, end

    moved = [_moved(each, back) for each in found.definitions]
    problem = found.problem
    if problem:
        rows = line_start(text, problem.span[0]), line_end(text, problem.span[1])
        problem = replace(problem, span=(0, len(source)) if found.is_whole else back(rows))
    return Outline(moved, problem, found.is_whole)


def _moved(each: Definition, back: Callable[[Span], Span]) -> Definition:
    body_end = None if each.body_end is None else back((each.body_end, each.body_end))[0]
    return replace(each, span=back(each.span), body_end=body_end)


def _line_starts(source: bytes) -> list[int]:
    starts = accumulate((len(line) + 1 for line in source.split(b"\n")[:-1]), initial=0)
    return [*starts, len(source)]


def _whole(path: str, language: str, source: bytes) -> RegionMap:
    return RegionMap(path, language, source, (_file_region(path, source),))


def _file_region(path: str, source: bytes) -> Region:
    return Region(file_key(path), Kind.FILE, None, ((0, len(source)),), hash_bytes(source))


def _tiled(path: str, language: Language, source: bytes, found: Outline) -> RegionMap:
    regions = [_file_region(path, source)]
    definitions = found.definitions
    keys = _keys(regions[0].key, definitions)
    inner = _spans_by_container(definitions)
    body_ends = {regions[0].key: len(source) if found.body_end is None else found.body_end}
    first, *rest = _gaps((0, len(source)), inner[TOP])
    shared = (first, *_filled(rest))
    regions.append(_header(source, regions[0].key, Kind.SHARED_HEADER, shared))
    for index, definition in enumerate(definitions):
        parent = regions[0].key if definition.container == TOP else keys[definition.container]
        regions.append(_definition_region(source, definition, keys[index], parent))
        if header := CONTAINERS.get(definition.kind):
            gaps = tuple(_filled(_gaps(definition.span, inner[index])))
            regions.append(_header(source, keys[index], header, gaps))
            if definition.body_end is not None:
                body_ends[keys[index]] = definition.body_end
    return RegionMap(path, language.name, source, tuple(regions), body_ends=body_ends)


def _keys(file: Key, definitions: Sequence[Definition]) -> list[Key]:
    """Return one key for each definition; repeated names in one container are numbered in file order."""
    totals = Counter((each.container, each.name) for each in definitions)
    seen: Counter[tuple[int, str]] = Counter()
    keys: list[Key] = []
    for each in definitions:
        place = (each.container, each.name)
        seen[place] += 1
        name = Name(each.name, seen[place] if totals[place] > 1 else 0)
        keys.append((file if each.container == TOP else keys[each.container]).child(name))
    return keys


def _spans_by_container(definitions: Sequence[Definition]) -> defaultdict[int, list[Span]]:
    spans: defaultdict[int, list[Span]] = defaultdict(list)
    for each in definitions:
        spans[each.container].append(each.span)
    return spans


def _gaps(outer: Span, spans: Iterable[Span]) -> Iterator[Span]:
    position = outer[0]
    for start, end in spans:
        yield position, start
        position = end
    yield position, outer[1]


def _filled(spans: Iterable[Span]) -> Iterator[Span]:
    return (span for span in spans if span[0] < span[1])


def _header(source: bytes, parent: Key, kind: Kind, spans: tuple[Span, ...]) -> Region:
    return Region(parent.child(_HEADER_NAME), kind, parent, spans, hash_spans(source, spans))


def _definition_region(source: bytes, definition: Definition, key: Key, parent: Key) -> Region:
    is_method = definition.kind is Kind.FUNCTION and definition.container != TOP
    kind = Kind.METHOD if is_method else definition.kind
    start, end = definition.span
    return Region(key, kind, parent, (definition.span,), hash_bytes(source[start:end]))
