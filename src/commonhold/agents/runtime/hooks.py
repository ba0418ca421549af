"""Answer an agent's hook: read the payload, have it handled, and write the answer in the agent's own format.

Any error on the way is answered with a refusal: a hook that is not understood must not let a write through.
"""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from commonhold.agents.agent import Agent, Payload, Reply, Unreadable
from commonhold.agents.hook_events import AboutToEdit, AboutToRun, Edited, Happening, Ran, Response, Stance
from commonhold.agents.runtime.calls_seen import CallsSeen
from commonhold.agents.runtime.lateness import why_late
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.resource_exhaustion import exhausted
from commonhold.machine.correlation import current
from commonhold.machine.logs import Log

_AFTER: Final = "Next: ask your user to run `commonhold doctor` here, and to report this with the agent's version"
TOO_DEEP: Final = "it is nested too deeply to be judged. Next: do it in several smaller calls"
_log: Final = Log(__name__)
Attend = Callable[[Happening], Response]
"""Handles a hook event; may wait for seconds, in any thread."""


class Hooks:
    """The hooks of all known agents."""

    def __init__(self, agents: Mapping[str, Agent], attend: Attend, seen: CallsSeen) -> None:
        """Answer for `agents` by their names; `seen` records the holder of each call."""
        self._agents = agents
        self._attend = attend
        self._seen = seen

    def knows(self, name: str) -> bool:
        """Whether there is an agent of this name."""
        return name in self._agents

    def answer(self, name: str, body: bytes, process: str, is_given_up: Callable[[], bool] = lambda: False) -> Reply:
        """Return the hook's reply. `process` tells the agent's run from others, if it is known.

        If it `is_given_up` in the end, the agent was refused meanwhile: the action that was begun for it is ended.
        """
        try:
            return self._answer(self._agents[name], _payload(body), process, is_given_up)
        except Unreadable as fault:
            return self.refuse(name, body, f"the hook's payload cannot be read: {fault}. {_AFTER}")
        except RecursionError:
            return self.refuse(name, body, TOO_DEEP)
        except Exception as fault:  # noqa: BLE001 - a defect of ours must neither end the daemon nor let a write through
            known = exhausted(fault) or fault
            if isinstance(known, CommonholdError):
                return self.refuse(name, body, f"{known.message} [{known.code}]. Next: {known.hint}")
            _log.error("hook failed", agent=name, fault=fault)
            why = f"a defect of Commonhold: {type(fault).__name__}: {fault} (in its log: correlation={current()})"
            return self.refuse(name, body, f"{why}. {_AFTER}")

    def late(self, name: str, body: bytes, process: str, seconds: float) -> Reply:
        """Return the hook's reply if there is no answer after so many seconds."""
        try:
            why = why_late(self._agents[name].read(_payload(body), process), seconds)
        except Unreadable as fault:
            why = f"the hook's payload cannot be read: {fault}. {_AFTER}"
        return self.refuse(name, body, why)

    def _answer(self, agent: Agent, payload: Payload, process: str, is_given_up: Callable[[], bool]) -> Reply:
        start = time.perf_counter()
        happening = agent.read(payload, process)
        self._seen.note(payload, happening.caller.holder)
        response = self._attend(happening)
        if is_given_up():
            _log.warning("hook answered too late", holder=happening.caller.holder, hook=type(happening).__name__)
            self._end(happening)
        record = _log.info if response.stance is Stance.DENY else _log.debug
        record(
            "hook answered",
            hook=type(happening).__name__,
            holder=happening.caller.holder,
            stance=response.stance,
            seconds=time.perf_counter() - start,
        )
        return agent.write(happening, response)

    def _end(self, happening: Happening) -> None:
        """Report that a call has failed. A call without an id may have been made again by now: it goes on."""
        match happening:
            case AboutToEdit(by, cwd, call, tool, wishes) if call:
                self._attend(Edited(by, cwd, call, tool, wishes, has_failed=True))
            case AboutToRun(by, cwd, call, _, command) if call:
                self._attend(Ran(by, cwd, call, command, has_failed=True))
            case _:
                pass

    def refuse(self, name: str, body: bytes, why: str) -> Reply:
        """Return the answer that blocks the action in a payload, as far as the agent can be blocked."""
        _log.warning("hook refused unseen", agent=name, why=why)
        payload: Payload = {}
        with suppress(Unreadable):
            payload = _payload(body)
        return self._agents[name].refuse(payload, f"Commonhold could not check this, so it is refused: {why}")


def _payload(body: bytes) -> Payload:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as fault:
        raise Unreadable(f"it is not valid JSON ({fault})") from fault
    if not isinstance(payload, dict):
        raise Unreadable(f"it is a {type(payload).__name__}, not an object")
    return payload
