"""Find and read regions, always in the present bytes of the files."""

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from commonhold.code.regions.edit import text_of
from commonhold.code.regions.find import find, lookup, lost, reserve
from commonhold.code.regions.region import Region, RegionMap, hash_bytes
from commonhold.kernel.answers import Piece, RegionHash, RegionText
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.files import Files, FileState, Stamp
from commonhold.kernel.keys import FILE, Key, Kind, Names, canonical, parse
from commonhold.reads.partial_reads import Glimpse, glimpse_of, parts_shown
from commonhold.reads.read_sets import ReadSet
from commonhold.reads.recent_maps import discovered


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file at the time it was read, and its regions."""

    state: FileState
    map: RegionMap

    def region(self, names: Names) -> Region | None:
        """Return the region with these names, or None. Raises InputError `REGION_AMBIGUOUS`, `ENCODING_INVALID`."""
        return lookup(self.map, names)


@dataclass(frozen=True, slots=True)
class Found:
    """The region that a key names now, and its map; None if it does not exist, or is no code.

    `why` says why a larger region replaces the requested one.
    """

    region: Region | None = None
    source: RegionMap | None = None
    why: str = ""


class FileCache(dict[str, ParsedFile | None]):
    """Files by path, each read once, at its first use."""

    def __init__(self, look: Callable[[str], ParsedFile | None]) -> None:
        """Read files with `look`."""
        super().__init__()
        self._look = look

    def seen(self) -> dict[str, Stamp | None]:
        """Return the stamp of each file at the time it was read."""
        return {path: Stamp(each.map.file.hash, each.state.mode) if each else None for path, each in self.items()}

    def __missing__(self, path: str) -> ParsedFile | None:
        self[path] = self._look(path)
        return self[path]


class RegionReader:
    """Reads the files of one working tree, and records the reads."""

    def __init__(self, files: Files, read_set: ReadSet) -> None:
        """Read `files`; add the reads to `read_set`."""
        self._files = files
        self._read_set = read_set

    @property
    def root(self) -> str:
        """Return the absolute path of the working tree."""
        return self._files.root

    def locate(self, text: str) -> Key:
        """Return the canonical key of any form of key, by its path alone: the region need not exist."""
        spec = parse(text)
        return self._files.locate(spec) if spec.scheme == FILE else canonical(text)

    def path_of(self, raw: str) -> str:
        """Return the path that keys use for a file that the disk, git or a program names."""
        return self._files.path_of(raw)

    def look(self, path: str) -> ParsedFile | None:
        """Return the present file at `path`; None if it does not exist."""
        state = self._files.load(path)
        return None if state is None else ParsedFile(state, discovered(state.content, path))

    def now_at(self, key: Key) -> tuple[str | None, dict[str, bytes]]:
        """Return the hash of the file or region that a key names, None if it does not exist; and its bytes to keep."""
        if not key.is_region:
            state = self._files.load(key.file_path)
            if state is None:
                return None, {}
            content_hash = hash_bytes(state.content)
            return content_hash, {content_hash: state.content}
        looked = self.look(key.file_path)
        region = looked.region(key.names) if looked else None
        if looked is None or region is None:
            return None, {}
        return region.hash, dict(contents_of(looked.map, region))

    def is_also_a_file(self, key: Key) -> bool:
        """Whether a free key looks like the name of an existing file."""
        last = key.path[-1] if key.path else ""
        return key.scheme != FILE and "." in last and self._files.exists(str(key).partition("#")[0])

    def glances(self) -> FileCache:
        """Return a cache that reads each file once."""
        return FileCache(self.look)

    def regions(self, text: str) -> RegionMap:
        """Return all regions of one file. Raises InputError `FILE_NOT_FOUND`."""
        return self._looked(self.locate(text), self.glances()).map

    def is_current(self, seen: Mapping[str, Stamp | None]) -> bool:
        """Whether files still have these stamps."""
        return all(self._files.stamp(path) == stamp for path, stamp in seen.items())

    def resolve(self, texts: Sequence[str], glances: FileCache) -> dict[Key, Found]:
        """Return the canonical keys to lease, each with its present region; a region that is missing is reserved.

        Raises InputError `REGION_AMBIGUOUS`, and `REGION_UNKNOWN` for a part of a class that does not exist.
        """
        found: dict[Key, Found] = {}
        for key in map(self.locate, texts):
            looked = glances[key.file_path] if key.is_region else None
            if looked is None:
                found[key] = Found()
            else:
                reserved = reserve(looked.map, key.names)
                why = _why_larger(looked.map, key, reserved)
                found[reserved] = Found(looked.map.by_key.get(reserved), looked.map, why)
        return found

    def read(self, texts: Sequence[str]) -> tuple[RegionText, ...]:
        """Return the named regions with their texts, which are kept so that later changes can be shown.

        Raises InputError `FILE_NOT_FOUND`, `REGION_UNKNOWN`, `REGION_AMBIGUOUS`, `ENCODING_INVALID`.
        """
        found = self._seen(texts)
        return tuple(region_text(source, region) for source, region in found)

    def record_read(self, texts: Sequence[str], shown: str = "") -> tuple[RegionHash, ...]:
        """Record the named regions as read, though the session read them without Commonhold; return their hashes.

        `shown` is the text that was read, of one file: if that has gone since, the content just before is recorded; if
        it is a part of the file, only the regions of that part.

        Raises InputError `FILE_NOT_FOUND`, `REGION_UNKNOWN`, `REGION_AMBIGUOUS`.
        """
        if shown and len(texts) == 1:
            return self._was_shown(self.locate(texts[0]), shown)
        return tuple(RegionHash(str(region.key), region.hash) for _, region in self._seen(texts))

    def known(self, texts: Sequence[str]) -> tuple[RegionHash, ...]:
        """Return the named regions' hashes at the session's last read or write; None if there was none."""
        asked = [str(self.locate(text)) for text in texts]
        known = self._read_set.known(asked)
        return tuple(RegionHash(key, known.get(key)) for key in asked)

    def _seen(self, texts: Sequence[str]) -> list[tuple[RegionMap, Region]]:
        since = self._read_set.newest()
        glances = self.glances()
        keys = [self.locate(text) for text in texts]
        maps = [self._looked(key, glances).map for key in keys]
        return self._read([(source, find(source, key.names)) for source, key in zip(maps, keys, strict=True)], since)

    def _was_shown(self, key: Key, shown: str) -> tuple[RegionHash, ...]:
        since = self._read_set.newest()
        source = self._looked(key, self.glances()).map
        glimpse = glimpse_of(source.source, shown)
        earlier = None if glimpse else self._read_set.shown_before(key.file_path, shown)
        if earlier:
            source, since = discovered(earlier.content, key.file_path), earlier.since
            glimpse = glimpse_of(earlier.content, shown)
        region = find(source, key.names)
        if glimpse and not glimpse.is_whole and region is source.file:
            return self._glimpsed(source, glimpse, since)
        return tuple(RegionHash(str(region.key), region.hash) for _, region in self._read([(source, region)], since))

    def _read(self, found: list[tuple[RegionMap, Region]], since: int) -> list[tuple[RegionMap, Region]]:
        contents = dict(content for source, region in found for content in contents_of(source, region))
        self._read_set.keep(contents, {str(region.key): region.hash for _, region in found}, since)
        return found

    def _glimpsed(self, source: RegionMap, glimpse: Glimpse, since: int) -> tuple[RegionHash, ...]:
        """Record the lines shown; return the regions of which the session has now seen any, without hash if not all."""
        parts = self._read_set.added_up(source, parts_shown(source, glimpse))
        contents = dict(content for part in parts for content in contents_of(source, part.region))
        shown = {str(part.region.key): part.region.hash for part in parts if part.is_all}
        contents[source.file.hash] = source.source
        self._read_set.keep(contents, shown, since, [part for part in parts if not part.is_all])
        return tuple(RegionHash(str(part.region.key), shown.get(str(part.region.key))) for part in parts)

    def _looked(self, key: Key, glances: FileCache) -> ParsedFile:
        if key.scheme != FILE or key.is_folder:
            raise InputError(
                Code.NOT_A_FILE,
                f"{key} is not a file, so it has no text",
                hint="name a file or a region of one",
                fields={"key": str(key)},
            )
        looked = glances[key.file_path]
        if looked is None:
            raise no_file(key.file_path)
        return looked


def no_file(path: str) -> InputError:
    """Return the error for a file that does not exist."""
    return InputError(
        Code.FILE_NOT_FOUND,
        f"there is no file {path!r}",
        hint="a path after file: counts from the root of the repository; commonhold commit --create makes a new file",
        fields={"path": path},
    )


def _why_larger(source: RegionMap, asked: Key, reserved: Key) -> str:
    """Return why a larger or other region than the requested one is leased; empty if it is that one."""
    if not reserved.is_region:
        why = lost(source, asked.names)
        return f"{asked} is in the file, but no region of its own is found there ({why}): the whole file is leased"
    name = asked.names[-1].text
    is_itself = reserved.names[-1].text.partition("(")[0] == name.partition("(")[0] or not asked.names
    is_looser = is_itself or reserved.is_header == asked.is_header
    return "" if is_looser else f"{asked} is declared in {reserved}: that is leased"


def contents_of(source: RegionMap, region: Region) -> Iterable[tuple[str, bytes]]:
    """Yield the contents to keep for a region that was read: its bytes, and for a header its spans, by their hashes."""
    yield region.hash, source.bytes_of(region)
    if region.key.is_header:
        for span in region.spans:
            data = source.cut(span)
            yield hash_bytes(data), data


def region_text(source: RegionMap, region: Region) -> RegionText:
    """Return the region in the form for people and agents."""
    try:
        text, data = text_of(source, region), None
    except InputError as fault:
        if fault.code is not Code.ENCODING_INVALID or region.kind is not Kind.FILE:
            raise
        text, data = None, base64.b64encode(source.bytes_of(region)).decode()
    spans = enumerate(region.spans if region.key.is_header else ())
    pieces = tuple(Piece(index, hash_bytes(source.cut(span)), text_of(source, region, index)) for index, span in spans)
    return RegionText(str(region.key), region.id, region.kind, region.hash, text, data, pieces)
