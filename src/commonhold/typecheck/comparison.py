"""Ask one server about two states of the files: in the working tree, or in a mirror if files come and go."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from commonhold.code.type_checkers import TypeReport
from commonhold.typecheck.case import Case, Texts, read_texts
from commonhold.typecheck.connection import Deadline
from commonhold.typecheck.dialogue import Dialogue, Said
from commonhold.typecheck.difference import newly_said
from commonhold.typecheck.disk import Change, Disk
from commonhold.typecheck.mirror import mirrored, put
from commonhold.typecheck.server import Server

_MOST_SHOWN: Final = 1000
_ENVIRONMENT: Final = ".venv"
_ACTIVATED: Final = frozenset({"VIRTUAL_ENV", "CONDA_PREFIX"})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a comparison may take: one that has to start a server, and any other."""

    first_seconds: float = 10.0
    seconds: float = 5.0


class Asking:
    """The server that stays in the working tree, and those that come and go. Not safe for two threads at once.

    Every fault of a server is raised as ServerFault, and the disk's faults as OSError.
    """

    def __init__(self, server: Server, root: str, environment: Mapping[str, str], patience: Patience) -> None:
        """Nothing is started yet."""
        self._server, self._root, self._patience = server, root, patience
        self._environment = _of_the_project(environment, root)
        self._dialogue: Dialogue | None = None
        self._disk = Disk(root, (), ())
        self._compared_last: frozenset[str] = frozenset()

    def compare(self, program: str, case: Case) -> TypeReport:
        """Return the new complaints of the server, by `program`."""
        if case.going or (case.coming and not self._server.sees_unsaved):
            return self._in_mirror(program, case)
        if self._dialogue is not None and self._disk.is_on_other_ground():
            self.end()
        deadline = Deadline(self._patience.seconds if self._dialogue else self._patience.first_seconds)
        if self._dialogue is None:
            self._disk = Disk(self._root, tuple(self._server.languages), self._server.ground)
            self._dialogue = Dialogue(self._server, program, self._root, self._environment, deadline)
        self._bring_up_to_date(self._dialogue, case)
        return _compared(self._dialogue, case, deadline)

    def end(self) -> None:
        """End the server that stays; idempotent."""
        if self._dialogue is not None:
            self._dialogue.end()
            self._dialogue = None
        self._disk.close()

    def _bring_up_to_date(self, dialogue: Dialogue, case: Case) -> None:
        """Show it the disk again.

        The files of the last comparison stay shown until now: if they were committed, they equal the disk, and the
        server's results about them stay valid. Files that are shown and unchanged since stay shown for the same reason.
        """
        changed = self._disk.changes()
        doubtful = dialogue.shown() & (self._compared_last | changed.keys()) - case.before.keys()
        on_disk = read_texts(self._root, doubtful)
        texts = case.before | on_disk
        seen = {path for path in changed if changed[path] is Change.CHANGED and dialogue.shows(path, texts.get(path))}
        dialogue.tell_of({path: change for path, change in changed.items() if path not in seen})
        dialogue.tell_when_hidden(seen)
        dialogue.hide(doubtful - on_disk.keys())
        dialogue.show(on_disk)
        if len(dialogue.shown()) > _MOST_SHOWN:
            dialogue.hide(dialogue.shown() - case.before.keys())
        self._compared_last = case.changed()

    def _in_mirror(self, program: str, case: Case) -> TypeReport:
        deadline = Deadline(self._patience.first_seconds)
        with mirrored(self._root, {*case.coming, *case.going}) as folder:
            dialogue = Dialogue(self._server, program, folder, self._environment, deadline)
            try:
                return _compared(dialogue, case, deadline, folder)
            finally:
                dialogue.end()


def _compared(dialogue: Dialogue, case: Case, deadline: Deadline, mirror: str = "") -> TypeReport:
    """Return the new complaints. If files come or go, they do so in the folder `mirror`, which the server sees."""
    dialogue.hide(case.after.keys() - case.before.keys())
    dialogue.show(case.before)
    asked = [path for path in case.before if path not in case.confined]
    before = dialogue.diagnostics(asked, deadline.half()) if asked else {}
    if mirror:
        for path, content in case.coming.items():
            put(mirror, path, content)
        for path in case.going:
            put(mirror, path, None)
        dialogue.tell_of(dict.fromkeys(case.coming, Change.CREATED) | dict.fromkeys(case.going, Change.DELETED))
    dialogue.hide(case.before.keys() - case.after.keys())
    dialogue.show(case.after)
    comparable = [path for path in case.after if path in before or path not in case.before]
    after = dialogue.diagnostics(comparable, deadline) if comparable else {}
    case = case.without(case.confined)
    silent = (case.before.keys() - before.keys()) | (case.after.keys() - after.keys())
    known = case.without(silent)
    new = newly_said(_only(before, known.before), _only(after, known.after), known.before, known.after)
    why = ""
    if silent:
        both = len({*case.before, *case.after})
        why = f"gave no answer about {len(silent)} of {both} files within {deadline.seconds:.3g} s"
    return TypeReport(new, dialogue.checker, why)


def _only(findings: Mapping[str, Said], texts: Texts) -> dict[str, Said]:
    return {path: findings[path] for path in texts}


def _of_the_project(environment: Mapping[str, str], root: str) -> dict[str, str]:
    """An environment in which the project's own Python environment counts, whatever else was activated."""
    if os.path.isdir(os.path.join(root, _ENVIRONMENT)):
        return {name: value for name, value in environment.items() if name not in _ACTIVATED}
    return dict(environment)
