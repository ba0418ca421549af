"""The holders of files that a merge would change; looked up only if there may be leases at all."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from commonhold.cli.common_options import Given
from commonhold.cli.git_place import GitPlace
from commonhold.kernel.keys import canonical, file_key, overlaps
from commonhold.merging.branches.histories import Held

STATE: Final = "state.db"


class OthersLeases:
    """The live leases of other holders on files of one working tree."""

    def __init__(self, given: Given, place: GitPlace) -> None:
        """Ask as the agent session that was given, about the files at `place`."""
        self._given = given
        self._place = place

    def on(self, paths: Sequence[str]) -> tuple[Held, ...]:
        """Return the leases of other holders on these files."""
        if not paths or not self._may_be_any():
            return ()
        # Loaded here: without leases there is no service to ask.
        from commonhold.cli.opening import agent_of, opened  # noqa: PLC0415
        from commonhold.workspace.files import WorkingTree  # noqa: PLC0415

        with opened(self._given) as place:
            me, leases = agent_of(self._given), place.hold.leases()
        tree = WorkingTree(self._place.root)
        keys = {path: file_key(tree.path_of(path)) for path in paths}
        return tuple(
            Held(path, held, lease.holder, lease.task)
            for lease in leases
            if lease.holder != me
            for held in lease.keys
            for path, key in keys.items()
            if overlaps(canonical(held), key)
        )

    def _may_be_any(self) -> bool:
        if os.path.lexists(Path(self._place.state_folder, STATE)):
            return True
        # Loaded here, as above.
        from commonhold.config import load_settings  # noqa: PLC0415

        return bool(load_settings(self._place.root, store=self._given.store).store)
