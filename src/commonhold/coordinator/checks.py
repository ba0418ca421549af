"""The default validator: it runs the checks of the task, then those of the run, on the files as they are now."""

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from commonhold.coordinator.command_roles import AGENT
from commonhold.coordinator.processes import run_command
from commonhold.coordinator.request_shapes import one_line
from commonhold.coordinator.roles import ItemRequest, Stop, Verdict

Fill = Callable[[str], None]
"""Copy the project into an empty folder."""


@dataclass(frozen=True, slots=True)
class CheckValidator:
    """Passes if every check exits with 0 within `seconds`.

    With `fill` the checks run in a copy that is made for each item, so that files written by a check disturb no editor,
    and files that change meanwhile disturb no check; otherwise in the working tree.
    """

    seconds: float
    fill: Fill | None = None

    def validate(self, request: ItemRequest, stop: Stop) -> Verdict:
        """Run the checks in their order, up to the first that fails."""
        checks = (*request.task.checks, *request.run.checks)
        if not checks:
            return Verdict(passed=True)
        with ExitStack() as stack:
            folder = request.root
            if self.fill is not None:
                folder = stack.enter_context(
                    tempfile.TemporaryDirectory(prefix="commonhold-run-", ignore_cleanup_errors=True)
                )
                self.fill(folder)
            for check in checks:
                env = {AGENT: request.item.session}
                ended = run_command(("/bin/sh", "-c", check), folder, env, b"", self.seconds, stop)
                if ended.status != 0:
                    why = ended.why or f"exit status {ended.status}"
                    printed = f": {ended.tail}" if ended.tail else ""
                    return Verdict(passed=False, why=one_line(f"the check `{check}` failed ({why}){printed}"))
        return Verdict(passed=True)
