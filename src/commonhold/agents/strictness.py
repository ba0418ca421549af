"""How strictly an agent is really kept to the leases: judged by the present installation, not by the intended one."""

from collections.abc import Sequence
from dataclasses import dataclass

from commonhold.agents.setup import Level, Setup


@dataclass(frozen=True, slots=True)
class Seen:
    """The findings about one agent's hooks.

    `is_installed`: anything of ours is there. `troubles`: the pieces that are missing or changed. `lost`: files that
    its hooks need and that are gone. `turned_off`: the setting by which the agent runs no hooks. `elsewhere`: that they
    lead to another repository. `by_another`: the interpreter that they run with, if it is not the one that checks.
    `lets_pass`: they let an edit through if no daemon answers, as when_down says. `distrusted`: events whose hooks the
    agent itself ignores; None if it could not be asked. `is_too_old`: it goes on if a hook fails. `is_watched`: a
    daemon runs, which notices writes without being asked. `refusing`: why a call without effect was refused, or failed,
    when its hooks were tried as they stand; `silent`: why one that only reports failed.
    """

    is_installed: bool
    troubles: Sequence[str] = ()
    lost: Sequence[str] = ()
    turned_off: str = ""
    elsewhere: str = ""
    by_another: str = ""
    is_watched: bool = False
    lets_pass: bool = False
    distrusted: Sequence[str] | None = ()
    is_too_old: bool = False
    refusing: str = ""
    silent: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """The level, its reason, and how to raise it; `is_broken`: nothing can be edited as it is."""

    level: Level
    why: str
    next_step: str = ""
    is_broken: bool = False


def standing(setup: Setup, seen: Seen) -> Standing:
    """Return the standing of an agent: the worst finding decides."""
    install = f"commonhold install {setup.name}"
    ungated = Level.DETECTED if seen.is_watched else Level.NONE
    if not seen.is_installed:
        return Standing(ungated, "its hooks are not installed here", install)
    if seen.lost:
        why = f"its hooks need {', '.join(seen.lost)}, which is gone, so every edit of its is blocked"
        return Standing(setup.level, why, install, is_broken=True)
    if seen.elsewhere:
        return Standing(ungated, seen.elsewhere, install)
    if seen.refusing:
        why = f"every edit of its is blocked, since its hooks fail when they are tried: {seen.refusing}"
        return Standing(setup.level, why, install, is_broken=True)
    if seen.troubles or seen.silent:
        troubles = [*seen.troubles, *([f"it does not report its actions: {seen.silent}"] if seen.silent else [])]
        return Standing(ungated, "; ".join(troubles), install)
    return _left_out(setup, seen, ungated) or _in_force(setup, seen)


def _left_out(setup: Setup, seen: Seen, ungated: Level) -> Standing | None:
    """Return the standing if the agent itself ignores the hooks."""
    if seen.turned_off:
        return Standing(ungated, f"{setup.title} runs no hooks: {seen.turned_off}", "take that setting out")
    if seen.distrusted:
        why = f"{setup.title} skips these hooks until a person trusts them: {', '.join(seen.distrusted)}"
        return Standing(ungated, why, setup.next_step)
    return None


def _in_force(setup: Setup, seen: Seen) -> Standing:
    is_gated = setup.level is Level.GATED
    if seen.distrusted is None:
        why = f"{setup.why}; it could not be asked whether it skips these hooks"
        return Standing(setup.level, why, setup.next_step)
    if seen.by_another:
        why = f"{setup.why}; its hooks run with {seen.by_another}, another one than this command"
        return Standing(setup.level, why, f"commonhold install {setup.name}, if this is the one to be used")
    if is_gated and seen.lets_pass:
        return Standing(Level.GATED_OPEN, "its hooks let an edit through while no daemon answers: when_down is allow")
    if is_gated and seen.is_too_old:
        return Standing(Level.GATED_OPEN, "this version of it goes on where a hook fails", f"update {setup.title}")
    return Standing(setup.level, setup.why)
