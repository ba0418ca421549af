"""Undo: compute the inverse of some commits for the present files, and commit it like any other changeset."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from commonhold.code.regions.region import hash_bytes
from commonhold.commits.service import Commits
from commonhold.commits.undo.answers import LaterWork, UndoAnswer, UndoneFile
from commonhold.commits.undo.inverse import Hindrance, Run, inverse, runs_of
from commonhold.commits.undo.later_work import built_on, kept_beside, last_change
from commonhold.commits.undo.selection import TASK, Made, Selected, made_at, select, selected_by
from commonhold.kernel.answers import CommitAnswer, Next, Obstacle, Unmerged
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.compacted import was_compacted
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.files import FileState
from commonhold.kernel.keys import canonical, file_key
from commonhold.kernel.pictures import Change
from commonhold.kernel.ports import Reader
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.task import TaskRecord
from commonhold.kernel.texts import MAX_TEXT_LENGTH, NOBODY, short_name, short_names
from commonhold.kernel.unified_diff import difference
from commonhold.leases.key_history import change_of
from commonhold.leases.registry import task_storage
from commonhold.reads.content_history import lines_of
from commonhold.reads.reading import RegionReader
from commonhold.workspace.place import WorktreeState

_MOST_WAYS: Final = 3
_AGAIN: Final = "repeat the undo"
_BY_HAND: Final = "take the change out by hand, under a lease"


@dataclass(frozen=True, slots=True)
class _Wish:
    """A request: `what` to undo as it was named, the paths to which it is limited (empty: all), and the intent."""

    what: str
    only: tuple[str, ...]
    intent: str
    request_id: str | None
    is_applied: bool

    @property
    def identity(self) -> str | None:
        """The request id of the inverse changeset: the same for the same request."""
        if self.request_id is None:
            return None
        return f"undo:{hash_bytes(repr(self).encode('utf-8', 'surrogatepass'))}"


@dataclass(frozen=True, slots=True)
class _Inverses:
    """The files as they would be: with their present state and the one without the undone changes, by path."""

    files: Mapping[str, tuple[FileState | None, FileState | None]]
    hindrances: Mapping[str, Hindrance]


class Undo:
    """Takes back commits in one working tree."""

    def __init__(self, place: WorktreeState, reading: RegionReader, commits: Commits) -> None:
        """Read the log and the kept contents of `place`, and write through `commits`."""
        self._place = place
        self._store, self._files = place.store, place.files
        self._reading = reading
        self._commits = commits

    def undo(
        self, holder: str, what: str, *, only: Sequence[str], intent: str, request_id: str | None, is_applied: bool
    ) -> UndoAnswer:
        """Take back the commits that `what` means in the files `only` (empty: in all), or show how.

        Raises InputError `COMMIT_UNKNOWN` if it means no commit, UsageError for paths that the commits did not change,
        and the errors of `Commits.commit`.
        """
        wish = _Wish(what, tuple(self._path(each) for each in only), intent, request_id, is_applied)
        if first := self._first_answer(holder, wish):
            return first
        task = self._task(what)
        with self._store.read() as reader:
            selected = select(reader, self._files.root, what, task)
        if not selected.live:
            return _nothing(selected)
        found = self._inverses(selected, wish.only)
        if found.hindrances:
            return _hindered(holder, wish, selected, found)
        return self._commit(holder, wish, selected, found)

    def _commit(self, holder: str, wish: _Wish, selected: Selected, found: _Inverses) -> UndoAnswer:
        """Commit the inverse changeset, or return the verdict on it."""
        edits = tuple(edit for path, states in found.files.items() for edit in _edits(path, *states))
        if not edits:
            return replace(_nothing(selected), why="the files are already as they were without these commits")
        changeset = Changeset(edits, wish.intent or _intent(wish.what, selected.live), wish.identity)
        undoes = tuple(each.sequence for each in selected.live)
        is_shown = not wish.is_applied
        verdict = self._commits.commit(holder, changeset, self._files.root, is_dry_run=is_shown, undoes=undoes)
        if verdict.outcome == "refused":
            return self._refused(holder, wish, selected, verdict)
        if verdict.sequence is not None:
            return self._done(verdict)
        files = tuple(_undone(selected, path, *states) for path, states in found.files.items())
        again = Next("undo", {**_arguments(wish), "apply": True}, "make this change:")
        return UndoAnswer("shown", _changes(selected.live), files, kept_beside(selected), commit=verdict, ways=(again,))

    def _path(self, text: str) -> str:
        key = self._reading.locate(text)
        if key.is_region or key.is_folder:
            raise UsageError(
                Code.USAGE, f"{key} is not a whole file", hint="name files: undo leaves out a file or takes all of it"
            )
        return key.file_path

    def _task(self, what: str) -> TaskRecord | None:
        tables, _ = task_storage(self._place)
        task_id = what.removeprefix(TASK)
        with tables.read() as reader:
            return next((each for each in reader.tasks_in_question((task_id,)) if each.id == task_id), None)

    def _first_answer(self, holder: str, wish: _Wish) -> UndoAnswer | None:
        if not wish.is_applied or wish.identity is None:
            return None
        with self._store.read() as reader:
            stored = reader.answer(holder, wish.identity)
        answer = stored.answer if stored else None
        return self._done(answer) if isinstance(answer, CommitAnswer) and answer.sequence is not None else None

    def _inverses(self, selected: Selected, only: Sequence[str]) -> _Inverses:
        """Return the files without the live commits, from their present states and the kept contents."""
        paths = dict.fromkeys(file.path for each in selected.live for file in each.commit.files)
        if strange := [path for path in only if path not in paths]:
            raise UsageError(
                Code.USAGE,
                f"the commits to undo did not change {', '.join(strange)}",
                hint="leave --only out to see which files they changed",
            )
        files: dict[str, tuple[FileState | None, FileState | None]] = {}
        hindrances: dict[str, Hindrance] = {}
        with self._store.read() as reader:
            for path in only or paths:
                present = self._files.load(path)
                without = inverse(path, present, _runs(selected, path), reader.content)
                if isinstance(without, Hindrance):
                    hindrances[path] = without
                elif without != present:
                    files[path] = (present, without)
        return _Inverses(files, hindrances)

    def _refused(self, holder: str, wish: _Wish, selected: Selected, verdict: CommitAnswer) -> UndoAnswer:
        """Return the refusal of an inverse changeset that may not be committed: it would break what others built."""
        with self._store.read() as reader:
            needed = tuple(
                last_change(reader, self._files.root, selected, canonical(each.key), each.why)
                for each in verdict.required
            )
        held = tuple(
            LaterWork(each.key, f"{short_name(each.holder)} holds a lease on it", each.holder, None, each.task)
            for each in verdict.conflicts
        )
        again = Next("undo", {**_arguments(wish), "apply": True}, f"then {_AGAIN}")
        step = verdict.next if verdict.next and verdict.next.call != "commit" else None
        if step is not None and verdict.required:
            step = replace(step, why=f"or lease these regions, {_AGAIN}, and mend them under your lease")
        return UndoAnswer(
            "refused",
            _changes(selected.live),
            later=(*needed, *held),
            code=verdict.code,
            why=verdict.why,
            commit=verdict,
            ways=(*_ways_of(holder, needed), *((step, again) if step else ())),
        )

    def _done(self, verdict: CommitAnswer) -> UndoAnswer:
        """Return the answer about an undo that took effect, from its event."""
        with self._store.read() as reader:
            made = made_at(reader, verdict.sequence or 0)
            if made is None:  # a repeated request, whose event is gone
                raise was_compacted(reader, "the undo took effect, and its details cannot be shown again")
            selected = selected_by(reader, self._files.root, made)
            files = tuple(
                _undone(
                    selected,
                    each.path,
                    _state(reader, each.before, each.mode_before),
                    _state(reader, each.after, each.mode_after),
                )
                for each in made.commit.files
            )
        again = Next("undo", {"what": str(made.sequence), "apply": True}, "this brings the undone change back:")
        return UndoAnswer(
            "undone",
            _changes(selected.live),
            files,
            kept_beside(selected),
            commit=verdict,
            sequence=made.sequence,
            ways=(again,),
        )


def _hindered(holder: str, wish: _Wish, selected: Selected, found: _Inverses) -> UndoAnswer:
    """Return the refusal of an undo whose changes cannot be separated from later ones."""
    works = {path: tuple(built_on(selected, path, hindrance)) for path, hindrance in found.hindrances.items()}
    later = tuple(chain.from_iterable(works.values()))
    # Where no commit is known that could be taken back before, only an edit by hand helps.
    unknown = {path for path, work in works.items() if all(each.sequence is None for each in work)}
    by_hand = [path for path, each in found.hindrances.items() if each.lost or path in unknown]
    whys = "; ".join(each.why for each in found.hindrances.values())
    is_lost = any(each.lost for each in found.hindrances.values())
    rest = tuple(found.files)
    ways = _ways_of(holder, chain.from_iterable(works[path] for path in works if path not in by_hand))
    if by_hand:
        ways += (Next.acquire(map(file_key, by_hand), f"undo {wish.what}", _BY_HAND),)
    if rest:
        limited = {**_arguments(wish), "only": list(rest)}
        ways += (Next("undo", limited, "undo the other files only"),)
    return UndoAnswer(
        "refused",
        _changes(selected.live),
        tuple(_undone(selected, path, *states) for path, states in found.files.items()),
        later,
        tuple(_unmerged(path, each) for path, each in found.hindrances.items() if each.spots),
        code=Code.CONTENT_UNKNOWN.value if is_lost else Refusal.REGION_CHANGED.value,
        why=whys,
        ways=ways,
    )


def _nothing(selected: Selected) -> UndoAnswer:
    """Return the answer if no commit is in effect any more: each was undone already."""
    undos = sorted({selected.undone[each.sequence] for each in selected.commits if each.sequence in selected.undone})
    by = f"event {undos[0]}" if len(undos) == 1 else f"events {', '.join(map(str, undos))}"
    ways = tuple(
        Next("undo", {"what": str(undo)}, f"to bring the change back, undo event {undo}") for undo in undos[:_MOST_WAYS]
    )
    return UndoAnswer("nothing", _changes(selected.commits), why=f"undone already by {by}", ways=ways)


def _changes(commits: Iterable[Made]) -> tuple[Change, ...]:
    return tuple(change_of(each.recorded, each.commit) for each in commits)


def _runs(selected: Selected, path: str) -> tuple[Run, ...]:
    changes = [(made.sequence, file) for made in selected.live for file in made.commit.files if file.path == path]
    others = [each.sequence for each in selected.later(path, 0)]
    return runs_of(changes, others)


def _edits(path: str, present: FileState | None, without: FileState | None) -> Iterator[Edit]:
    """Yield the edits that bring a file from its present state to the one without the undone changes."""
    key = str(file_key(path))
    if without is None:
        base = hash_bytes(present.content) if present else None
        yield Edit(Op.DELETE_FILE, key, base)
    elif present is None:
        yield Edit(Op.CREATE_FILE, key, data=without.content, mode=_octal(without))
    elif present.content == without.content:
        yield Edit(Op.CHMOD, key, hash_bytes(present.content), mode=_octal(without))
    else:
        mode = None if present.mode == without.mode else _octal(without)
        yield Edit(Op.REWRITE, key, hash_bytes(present.content), data=without.content, mode=mode)


def _octal(state: FileState) -> str:
    return f"{state.mode & 0o777:03o}"


def _state(reader: Reader, content_hash: str | None, mode: int | None) -> FileState | None:
    if content_hash is None:
        return None
    return FileState(reader.content(content_hash) or b"", mode or 0)


def _undone(selected: Selected, path: str, present: FileState | None, without: FileState | None) -> UndoneFile:
    before, after = (hash_bytes(state.content) if state else None for state in (present, without))
    earlier = {file.before for made in selected.live for file in made.commit.files if file.path == path}
    return UndoneFile(path, before, after, after not in earlier, _diff(present, without))


def _diff(present: FileState | None, without: FileState | None) -> str | None:
    old, new = (state.content if state else b"" for state in (present, without))
    if b"\0" in old + new:
        return None
    if old == new and present and without:
        return f"mode {_octal(present)} becomes {_octal(without)}"
    return difference(lines_of(old), lines_of(new), "now", "undone")


def _unmerged(path: str, hindrance: Hindrance) -> Unmerged:
    obstacles = tuple(Obstacle(spot.reason, spot.why) for spot in hindrance.spots)
    marked = hindrance.marked.decode("utf-8", "replace") if hindrance.marked is not None else None
    return Unmerged(path, obstacles, marked)


def _ways_of(caller: str, later: Iterable[LaterWork]) -> tuple[Next, ...]:
    """Return the calls that take back the later commits first: the newest, since others may build on the older."""
    found = {each.sequence: each for each in later if each.sequence is not None and each.holder is not None}
    return tuple(
        Next("undo", {"what": str(number)}, _why_first(caller, found[number]))
        for number in sorted(found, reverse=True)[:_MOST_WAYS]
    )


def _why_first(caller: str, work: LaterWork) -> str:
    if work.holder == NOBODY:
        return "if you know who made that change outside of Commonhold: undo it first"
    if work.holder == caller:
        return f"undo your own event {work.sequence} first"
    return f"ask {short_name(work.holder or '')}, and undo their work first"


def _arguments(wish: _Wish) -> dict[str, object]:
    return {"what": wish.what, **({"only": list(wish.only)} if wish.only else {})}


def _intent(what: str, commits: Sequence[Made]) -> str:
    """Return the intent of an undo: what it undoes, and with which intents that was made."""
    intents = "; ".join(dict.fromkeys(each.commit.intent for each in commits[::-1] if each.commit.intent))
    by = short_names(each.commit.holder for each in commits)
    text = f"undo {what} by {by}" if what.isdigit() else f"undo {what}"
    return f"{text}: {intents}"[:MAX_TEXT_LENGTH] if intents else text[:MAX_TEXT_LENGTH]
