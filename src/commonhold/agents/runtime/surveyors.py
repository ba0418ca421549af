"""The surveyors of working trees in which shell commands run. Each keeps a large memory of its tree."""

import threading
from pathlib import Path

from commonhold.client.session import Commonhold
from commonhold.config import Settings, Shell, load_settings
from commonhold.workspace.repository import find_repository
from commonhold.workspace.survey import Surveyor
from commonhold.workspace.survey.ground import ScanScope


class Surveyors:
    """One surveyor for each working tree and its settings. Safe for threads."""

    def __init__(self) -> None:
        """Begin with none."""
        self._made: dict[tuple[str, tuple[str, ...], int], Surveyor] = {}
        self._lock = threading.Lock()

    def of(self, session: Commonhold, ground: ScanScope, settings: Settings) -> Surveyor:
        """Return the surveyor of a session's working tree; those of trees that are gone, or had other settings, end."""
        name = session.root, tuple(settings.ignore), settings.max_file_bytes
        with self._lock:
            if name not in self._made:
                kept = {old: each for old, each in self._made.items() if old[0] != name[0] and Path(old[0]).is_dir()}
                for old in self._made.keys() - kept.keys():
                    self._made[old].close()
                made = Surveyor(name[0], ground.git, ignored=settings.ignore, max_file_bytes=settings.max_file_bytes)
                self._made = {**kept, name: made}
            return self._made[name]

    def look_ahead(self, session: Commonhold) -> None:
        """Survey the working tree of a session, so that the first command there need not wait until all files are read.

        Raises all errors of the survey.
        """
        settings = load_settings(session.root)
        if settings.shell != Shell.OFF:
            ground = ScanScope(find_repository(session.root), session.root, ())
            self.of(session, ground, settings).look(session.store_contents)

    def close(self) -> None:
        """Close all of them."""
        with self._lock:
            made, self._made = self._made, {}
        for each in made.values():
            each.close()
