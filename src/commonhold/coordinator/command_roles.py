"""Roles that are commands: a request as JSON on standard input, an answer as JSON on standard output, a deadline."""

import time
from dataclasses import dataclass

from commonhold.coordinator import request_shapes
from commonhold.coordinator.processes import Ended, run_command
from commonhold.coordinator.roles import Edited, ItemRequest, Planned, Replanned, RoleFailed, Stop, Verdict
from commonhold.kernel.run import Role

AGENT = "COMMONHOLD_AGENT"


@dataclass(frozen=True, slots=True)
class CommandRole:
    """A line of shell that plays any of the roles, for at most `seconds` a call, in the folder of the working tree.

    It fails if its exit status is not 0, if its time is up, or if it prints something else than its answer.
    """

    line: str
    seconds: float

    def plan(self, goal: str, root: str, stop: Stop) -> Planned | RoleFailed:
        """Ask it for a plan."""
        ended = self._run(root, {}, request_shapes.planner_request(goal, root), stop)
        return failure(self.line, ended) or request_shapes.planned(ended.output, time.time())

    def edit(self, request: ItemRequest, stop: Stop) -> Edited | RoleFailed:
        """Ask it for a candidate."""
        ended = self._about(Role.EDITOR, request, stop)
        return failure(self.line, ended) or request_shapes.edited(ended.output, request)

    def replan(self, request: ItemRequest, stop: Stop) -> Replanned | RoleFailed:
        """Ask it for a lock plan."""
        ended = self._about(Role.RECOVERY, request, stop)
        return failure(self.line, ended) or request_shapes.replanned(ended.output)

    def validate(self, request: ItemRequest, stop: Stop) -> Verdict | RoleFailed:
        """Ask it for a verdict."""
        ended = self._about(Role.VALIDATOR, request, stop)
        return failure(self.line, ended) or request_shapes.verdict(ended.output)

    def _about(self, role: Role, request: ItemRequest, stop: Stop) -> Ended:
        env = {AGENT: request.item.session}
        return self._run(request.root, env, request_shapes.item_request(role, request), stop)

    def _run(self, root: str, env: dict[str, str], given: bytes, stop: Stop) -> Ended:
        return run_command(("/bin/sh", "-c", self.line), root, env, given, self.seconds, stop)


def failure(line: str, ended: Ended) -> RoleFailed | None:
    """Return why a command has failed; None if it has not."""
    if ended.status == 0:
        return None
    why = ended.why or f"it exited with {ended.status}"
    said = f": {ended.tail}" if ended.tail else ""
    return RoleFailed(request_shapes.one_line(f"`{line}` failed ({why}){said}"))
