"""Quotas of tenants: limits of their running sessions together, on all machines that share a store.

A session that does not fit waits, and the later ones of its tenant wait behind it: else small sessions could overtake a
large one for ever. Other tenants are not held up.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.managed_session import ManagedSession, ManagedSessionRecord, SessionState
from commonhold.kernel.options import TenantQuota
from commonhold.kernel.sizes import size_text

EVERY_TENANT: Final = "*"
"""The name of the quota for all tenants that have none of their own."""
Quotas = Mapping[str, TenantQuota]


@dataclass(frozen=True, slots=True)
class _Usage:
    """The number of running sessions of a tenant, and the sums of their limits."""

    sessions: int = 0
    memory_bytes: int = 0
    cpus: float = 0.0

    def plus(self, session: ManagedSession) -> "_Usage":
        return _Usage(self.sessions + 1, self.memory_bytes + session.memory_bytes, self.cpus + session.cpus)


def quota_of(quotas: Quotas, tenant: str) -> TenantQuota:
    """Return the quota of a tenant."""
    return quotas.get(tenant) or quotas.get(EVERY_TENANT) or TenantQuota()


def why_never(session: ManagedSession, quotas: Quotas) -> tuple[str, str] | None:
    """Return why a session never fits into the quota of its tenant, and what to do; None if it can fit."""
    quota, name = quota_of(quotas, session.tenant), _name(session.tenant)
    if quota.memory_bytes and not 0 < session.memory_bytes <= quota.memory_bytes:
        most = size_text(quota.memory_bytes)
        asks = f"asks for {size_text(session.memory_bytes)}" if session.memory_bytes else "has no --memory"
        return f"the quota of {name} is {most} of memory, and it {asks}", f"give it --memory, at most {most}"
    if quota.cpus and not 0 < session.cpus <= quota.cpus:
        asks = f"asks for {session.cpus:g}" if session.cpus else "has no --cpus"
        why = f"the quota of {name} is {quota.cpus:g} processors, and it {asks}"
        return why, f"give it --cpus, at most {quota.cpus:g}"
    return None


def why_no_room(session: ManagedSession, records: Iterable[ManagedSessionRecord], quotas: Quotas) -> str:
    """Return why a session does not fit beside the running sessions of its tenant; empty if it does."""
    if never := why_never(session, quotas):
        return never[0]
    tenant = session.tenant
    usage = _used(records).get(tenant, _Usage())
    return _why_full(session, usage, quota_of(quotas, tenant))


def blocked_by_quotas(
    ready: Iterable[ManagedSessionRecord], records: Iterable[ManagedSessionRecord], quotas: Quotas
) -> dict[str, str]:
    """Return, by the ids of the sessions that wait for room in the quota of their tenant, the reason as a clause.

    `ready` are the sessions that wait for nothing else, in the order in which those of a tenant begin; `records` all.
    """
    if not quotas:
        return {}
    blocked: dict[str, str] = {}
    first: dict[str, str] = {}
    used = _used(records)
    for record in ready:
        session, tenant = record.session, record.session.tenant
        if never := why_never(session, quotas):
            blocked[record.id] = never[0]
        elif tenant in first:
            blocked[record.id] = f"{first[tenant]} goes first, and waits: {blocked[first[tenant]]}"
        elif why := _why_full(session, used.get(tenant, _Usage()), quota_of(quotas, tenant)):
            blocked[record.id], first[tenant] = why, record.id
    return blocked


def _used(records: Iterable[ManagedSessionRecord]) -> dict[str, _Usage]:
    used: dict[str, _Usage] = {}
    for record in records:
        if record.state is SessionState.RUNNING:
            tenant = record.session.tenant
            used[tenant] = used.get(tenant, _Usage()).plus(record.session)
    return used


def _why_full(session: ManagedSession, usage: _Usage, quota: TenantQuota) -> str:
    name, after = _name(session.tenant), usage.plus(session)
    if quota.max_sessions is not None and after.sessions > quota.max_sessions:
        return f"{name} runs {usage.sessions} of its {quota.max_sessions} sessions"
    if quota.memory_bytes and after.memory_bytes > quota.memory_bytes:
        parts = map(size_text, (usage.memory_bytes, quota.memory_bytes, session.memory_bytes))
        return "{} uses {} of its {} of memory, and it needs {}".format(name, *parts)
    # Sums of binary fractions: three times 0.1 is more than 0.3.
    if quota.cpus and round(after.cpus, 6) > quota.cpus:
        return f"{name} uses {usage.cpus:g} of its {quota.cpus:g} processors, and it needs {session.cpus:g}"
    return ""


def _name(tenant: str) -> str:
    return f"tenant {tenant}" if tenant else "the tenant without a name"
