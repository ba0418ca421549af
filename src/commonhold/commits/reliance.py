"""Detect new text that relies on something which its author has read and others have changed since."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from commonhold.code.analysis.module_definitions import CONSTRUCTORS
from commonhold.code.analysis.references import Receiver, Reference
from commonhold.code.analysis.repository.library import Library, Overlay, Shelf
from commonhold.code.analysis.repository.recent_summaries import recent_summary
from commonhold.code.analysis.repository.resolution import Resolver
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.analysis.repository.symbols import Thing, What
from commonhold.code.regions.find import lookup
from commonhold.commits.plan import CommitRequest, Outdated, Plan, Relied
from commonhold.commits.planning import Planner
from commonhold.commits.repair_packet import commit_again
from commonhold.kernel.answers import Next
from commonhold.kernel.changeset import Changeset
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.policy import Policies
from commonhold.kernel.ports import Reader
from commonhold.kernel.read_set import StaleRead
from commonhold.kernel.refusals import Refusal
from commonhold.reads.change_notifications import told
from commonhold.reads.read_set_invalidation import caught_up
from commonhold.reads.recent_maps import discovered
from commonhold.reads.stale_base import Stale


@dataclass(frozen=True, slots=True)
class _Written:
    """The uses in the regions of a file that a commit writes; `new` are those without an equal one before.

    `resolver` knows the file, and the files of the definitions in question.
    """

    path: str
    summary: Summary
    resolver: Resolver
    uses: tuple[Reference, ...]
    new: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class _Used:
    """A stale read, the present state of its region, and the place where the new text uses it."""

    found: StaleRead
    fresh: Stale
    place: str


class Reliance:
    """Compares the uses in a plan's new text with the stale reads of its author."""

    def __init__(self, planner: Planner, policies: Policies) -> None:
        """Look things up through `planner`; `policies` say where a changed body must be read again, too."""
        self._planner = planner
        self._policies = policies

    def outdated(self, reader: Reader, request: CommitRequest, plan: Plan) -> Outdated | None:
        """Return why the author must read first; None if it need not.

        A result from planning stays valid as long as no further reads became stale.
        """
        unread = self._unread(reader, request)
        if plan.relied is not None and plan.relied.unread == unread:
            return plan.relied.outdated
        return self._outdated(request, plan, unread)

    def relied(self, reader: Reader, request: CommitRequest, plan: Plan) -> Relied:
        """Return the result about the reads that a plan relies on, to be kept with the plan."""
        unread = self._unread(reader, request)
        return Relied(unread, self._outdated(request, plan, unread))

    def _outdated(self, request: CommitRequest, plan: Plan, unread: Sequence[StaleRead]) -> Outdated | None:
        if not unread:
            return None
        found = [(each, self._planner.fresh(canonical(each.key))) for each in unread if self._matters(each)]
        there = [(each, fresh) for each, fresh in found if _is_other(each, fresh)]
        written = list(self._written(plan, [fresh for _, fresh in there])) if there else []
        used = [_Used(each, fresh, place) for each, fresh in there if (place := _used_at(each, written))]
        return _outdated(request.changeset, used) if used else None

    def _unread(self, reader: Reader, request: CommitRequest) -> tuple[StaleRead, ...]:
        """Return others' changes to the session's reads, except those that the changeset proves to have read again."""
        overtaken = reader.overtaken(request.holder, request.worktree)
        relied_on = [self._planner.locate(read.key) for read in request.changeset.reads] if overtaken else []
        left = (each for each in overtaken if each.unread)
        return tuple(each for each in left if not caught_up(each, relied_on, each.changes[-1].sequence))

    def _written(self, plan: Plan, definitions: Iterable[Stale]) -> Iterator[_Written]:
        keys = [canonical(region.key) for region in plan.regions if region.hash is not None]
        states = _summaries(plan)
        resolver = Resolver(
            self._library(plan, {each.key.file_path: _summary_at(each) for each in definitions} | states)
        )
        for write in plan.writes:
            mine, after = [key for key in keys if key.file_path == write.path], states[write.path]
            if mine and after is not None:
                before = _summary(plan.contents, write.path, write.before)
                lines = set(_lines(plan.contents[write.after or ""], write.path, mine))
                uses = tuple(use for use in after.uses if use.line in lines)
                new = tuple(use for use in _new(before.uses if before else (), after.uses) if use.line in lines)
                yield _Written(write.path, after, resolver, uses, new)

    def _library(self, plan: Plan, summaries: Mapping[str, Summary | None]) -> Library:
        """Return all files in their future state if they were examined, otherwise only those in question."""
        library = plan.crossed.library or (self._planner.library() if plan.crossed.is_linked else None)
        if library is None:
            return Shelf({path: summary for path, summary in summaries.items() if summary})
        return Overlay(library, plan.crossed.files or _summaries(plan))

    def _matters(self, found: StaleRead) -> bool:
        """Whether a definition must be read again before new text may use it."""
        return _is_contract(found) or self._policies.wants_reread(canonical(found.key))


def _is_contract(found: StaleRead) -> bool:
    return any(each.what for each in found.unread)


def _used_at(found: StaleRead, written: Iterable[_Written]) -> str | None:
    """Return the place of a use as `path:line`; uses that predate a contract change were handled at that change."""
    is_contract = _is_contract(found)
    places = (
        f"{each.path}:{use.line}"
        for each in written
        for use in (each.new if is_contract else each.uses)
        if _may_mean(use, found, each)
    )
    return next(places, None)


def _is_other(found: StaleRead, fresh: Stale) -> bool:
    """Whether the present content differs from the one read, and there is something to read."""
    return fresh.source is not None and (fresh.region is None or fresh.region.hash != found.base)


def _outdated(changeset: Changeset, used: Sequence[_Used]) -> Outdated:
    is_contract = any(_is_contract(each.found) for each in used)
    code = Refusal.CONTRACT_CHANGED if is_contract else Refusal.READ_CHANGED
    why = "; ".join(f"{told(each.found, each.found.unread)}, and your text uses it ({each.place})" for each in used)
    stale = tuple(replace(each.fresh, base=each.found.base) for each in used)
    return Outdated(code, why, stale, _next(changeset, stale))


def _next(changeset: Changeset, stale: Sequence[Stale]) -> Next:
    gone = [str(each.key.file) for each in stale if each.region is None]
    if gone:
        keys = list(dict.fromkeys(gone))
        return Next("show", {"keys": keys}, "what your text uses is gone: read the current code, then decide again")
    fresh = {str(each.region.key): each.region.hash for each in stale if each.region is not None}
    why = "redo your text to fit the fresh text in repair (do not resend it), then commit with these hashes in reads"
    again = commit_again(changeset, why)
    given = again.arguments.get("reads", [])
    reads = [*given, *({"key": key, "hash": each} for key, each in fresh.items())]  # type: ignore[misc]
    return replace(again, arguments={**again.arguments, "reads": reads})


def _summaries(plan: Plan) -> dict[str, Summary | None]:
    """Return the files that a plan writes, in their future state."""
    return {write.path: _summary(plan.contents, write.path, write.after) for write in plan.writes}


def _summary_at(found: Stale) -> Summary | None:
    return recent_summary(found.key.file_path, found.source.source) if found.source else None


def _summary(contents: Mapping[str, bytes], path: str, content_hash: str | None) -> Summary | None:
    source = contents.get(content_hash) if content_hash else None
    return recent_summary(path, source) if source is not None else None


def _lines(source: bytes, path: str, keys: Iterable[Key]) -> Iterator[int]:
    """Yield the lines, from 1, of the regions that are written."""
    found = discovered(source, path)
    for key in keys:
        region = lookup(found, key.names)
        for start, end in region.spans if region else ():
            first = source.count(b"\n", 0, start) + 1
            yield from range(first, first + source.count(b"\n", start, end) + 1)


def _new(before: Iterable[Reference], after: Iterable[Reference]) -> Iterator[Reference]:
    """Yield the uses that did not exist before in the same form, anywhere in the file."""
    left = Counter(replace(use, line=0) for use in before)
    for use in after:
        form = replace(use, line=0)
        left[form] -= 1
        if left[form] < 0:
            yield use


def _may_mean(use: Reference, found: StaleRead, written: _Written) -> bool:
    """Whether a use may mean a definition: it resolves to it, or it has its name and may come from there."""
    key = canonical(found.key)
    thing = written.resolver.use(written.path, use)
    if thing.is_found:
        return _is_it(thing, key, written.resolver)
    taken = written.summary.imported.get(use.name)
    if _called(key) not in (use.name, taken.member if taken else ""):
        return False
    if thing.what is What.NOTHING and found.now is not None:
        return False
    root = written.summary.imported.get(use.chain[0]) if use.chain else taken
    if root is not None:
        return _leads_to(root.module, key)
    if use.chain or use.receiver is not Receiver.NONE:
        return bool(written.summary.used_names & _around(key))
    return written.path == key.file_path


def _is_it(thing: Thing, key: Key, resolver: Resolver) -> bool:
    """Whether `thing` is the definition, or a class with the definition as its constructor."""
    qualname = key.bare().qualname
    if thing.place == (key.file_path, qualname):
        return True
    name = qualname.rpartition(".")[2]
    is_made = thing.what is What.CLASS and name in CONSTRUCTORS
    return is_made and resolver.attribute(thing, name).place == (key.file_path, qualname)


def _called(key: Key) -> str:
    """Return the name by which a definition is used: for a constructor, that of its class."""
    texts = [each.text for each in key.names]
    return texts[-2] if len(texts) > 1 and texts[-1] in CONSTRUCTORS else texts[-1] if texts else ""


def _leads_to(module: str, key: Key) -> bool:
    """Whether a module name, as written, may mean the file of a definition, or a package around it."""
    last = module.strip(".").rpartition(".")[2]
    return not last or last in _stems(key)


def _around(key: Key) -> set[str]:
    """Return names that a file related to a definition mentions: those of the classes around it and of its module."""
    return {each.text for each in key.bare().names[:-1]} | _stems(key)


def _stems(key: Key) -> set[str]:
    return {part.partition(".")[0] for part in key.path}
