"""The operations on leases, and on the values of free keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

from commonhold.api import terms
from commonhold.api.operations import Operation, Schedule
from commonhold.api.service_base import ServiceBase
from commonhold.kernel.keys import FILE, parse
from commonhold.kernel.modes import Mode
from commonhold.kernel.scopes import Scope


class LeaseOperations(ServiceBase):
    """Grants and ends leases, and keeps the values of free keys."""

    @Operation(Schedule.QUICK, wrapped=True, command="acquire", tool="acquire", route="POST /leases")
    def acquire(
        self,
        *keys: str,
        task: str = "",
        ttl_seconds: float | None = None,
        mode: Mode = Mode.EXCLUSIVE,
        **more: Unpack[terms.AcquireOptions],
    ) -> terms.AcquireAnswer:
        """Request one lease on all of `keys`: granted as a whole, queued, or denied with every conflict named.

        A lease keeps others from changing the keys that it covers; it ends by release, or `ttl_seconds` after the last
        sign of life of its holder (any call). It does not keep this process from believing that it still holds the
        lease when it does not: the commit checks.
        """
        self._give_sign()
        ttl = self._uses.options.ttl_seconds if ttl_seconds is None else ttl_seconds
        if any(parse(key).scheme == FILE for key in keys):
            self._recover_if_possible()
        answer = self._uses.leases.acquire(self.holder, keys, task=task, ttl_seconds=ttl, mode=mode, **more)
        if answer.outcome not in {"denied", "queued"}:
            return answer
        if answer.outcome == "denied":
            answer = replace(answer, context=self._uses.notes.bearing_on((each.key for each in answer.conflicts), task))
        # Loaded here: most requests are granted.
        from commonhold.api.redirects import redirected  # noqa: PLC0415

        return redirected(self._uses, self.holder, answer)

    @Operation(Schedule.QUICK, command="renew", tool="renew", route="POST /leases/{lease_id}/renew")
    def renew(
        self, lease_id: str, *, ttl_seconds: float | None = None, request_id: str | None = None
    ) -> terms.LeaseAnswer:
        """Set the end of a live lease to `ttl_seconds` from now. The end is set, never added to."""
        ttl = self._uses.options.ttl_seconds if ttl_seconds is None else ttl_seconds
        return self._uses.leases.renew(self.holder, lease_id, ttl, request_id)

    @Operation(Schedule.QUICK, command="release", tool="release", route="POST /leases/{lease_id}/release")
    def release(self, lease_id: str, *, request_id: str | None = None, result: str | None = None) -> terms.LeaseAnswer:
        """End a lease of this session, or give up its place in line.

        With a `result` the work that it was acquired for with `once` is done forever: all later requests get the
        result (up to 65,536 characters). Without one, the next in line may do it.
        """
        return self._uses.leases.release(self.holder, lease_id, request_id, result)

    @Operation(Schedule.QUICK, once=True, command="ask", route="POST /leases/{lease_id}/ask")
    def ask(self, lease_id: str, *, why: str, request_id: str | None = None) -> terms.LeaseAnswer:
        """Ask the holder of a lease to release it: the holder's next answers say so."""
        return self._uses.leases.ask(self.holder, lease_id, why, request_id)

    @Operation(Schedule.QUICK, once=True, command="hand-over", route="POST /leases/{lease_id}/hand-over")
    def hand_over(self, lease_id: str, *, to: str, request_id: str | None = None) -> terms.LeaseAnswer:
        """Give a lease to another holder (such as a subagent), with a new fence: this session cannot write under it."""
        return self._uses.leases.hand_over(self.holder, lease_id, to, request_id)

    @Operation(
        Schedule.QUICK, once=True, command="break", route="POST /leases/{lease_id}/force-release", scope=Scope.REVIEWER
    )
    def break_lease(self, lease_id: str, *, reason: str, request_id: str | None = None) -> terms.LeaseAnswer:
        """End a lease by force: for people. The author, the reason and the holder's partial work are kept."""
        return self._uses.leases.break_(self.holder, lease_id, reason, request_id)

    @Operation(Schedule.QUICK, reads=True, command="get", tool="get", route="GET /values/{key}")
    def get(self, key: str) -> terms.Value:
        """Return the text of a free key (such as `account:12345`), and its version."""
        self.heartbeat()
        return self._uses.values.get(key)

    @Operation(Schedule.QUICK, once=True, command="put", tool="put", route="PUT /values/{key}")
    def put(
        self,
        key: str,
        text: str | None,
        *,
        expected_version: int,
        fence: int | None = None,
        reads: Sequence[terms.Version] = (),
        request_id: str | None = None,
    ) -> terms.PutAnswer:
        """Set the value of a free key to `text`, if it still has `expected_version` (0: never set).

        A text of None deletes the value. With a `fence` the lease with that fencing token must be live, of this
        session, and cover the key. `reads` are versions of other keys that it was based on: they must be current too,
        so two sessions that each read a key that the other writes cannot both succeed.
        """
        return self._uses.values.put(self.holder, key, text, expected_version, fence, reads, request_id)

    @Operation(Schedule.PLANNED, command="sweep", route="POST /sweep")
    def sweep(self) -> None:
        """End expired leases, grant them to their waiters, and look for partial work.

        Sessions that ended without a report are handled as well. Every call that changes anything does a part of it.
        """
        while self.sweep_some():
            pass

    def sweep_some(self) -> bool:
        """Do a part of `sweep` that takes some hundredths of a second. Return whether there is more to do."""
        if self._uses.leases.end_expired(self._agent or ""):
            self._uses.works.look_for()
            return True
        with self._uses.place.registry.together():
            if self._uses.works.look_for():
                return True
        self._writing.attendance.end_gone()
        return self._uses.works.look_for()

    @Operation(Schedule.QUICK, reads=True, route="GET /leases")
    def leases(self, *, holder: str | None = None) -> tuple[terms.Lease, ...]:
        """Return the live leases, oldest first, of all holders or of one."""
        return self._uses.leases.live(holder=holder)

    @Operation(Schedule.QUICK, reads=True, command="who", tool="status", route="GET /holders")
    def who(self, key: str) -> terms.Who:
        """Return the holders of leases that overlap `key`, those who wait, and the authors of its last changes."""
        self._recover_if_possible()
        return self._uses.queries.who(key)
