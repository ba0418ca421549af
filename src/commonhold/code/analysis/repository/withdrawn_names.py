"""Names that a file no longer passes on to others: a name that it imported, and itself as a module."""

from collections.abc import Iterable, Iterator
from typing import Final

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.references import NAME_FAILS, Reference, Use
from commonhold.code.analysis.repository.call_signatures import how_used
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.states import States, uses_of
from commonhold.code.analysis.repository.summary import STAR, Summary
from commonhold.code.analysis.repository.symbols import Thing, What
from commonhold.code.analysis.test_files import is_test

_LANGUAGES: Final = frozenset({"python", "javascript", "typescript", "tsx"})
_LASTING: Final = frozenset({What.MODULE, What.CLASS, What.FUNCTION, What.VALUE, What.INSTANCE})


def withdrawn(states: States, paths: Iterable[str]) -> Iterator[Concern]:
    """Yield the uses of imported names of these files, and of the files themselves, that now lead nowhere."""
    for path in paths:
        before, after = states.old.library.summary(path), states.new.library.summary(path)
        if before is None or before.problem or before.language not in _LANGUAGES:
            continue
        if after is None:
            yield from _without_module(states, path)
        elif after.problem:
            continue
        for name in dict.fromkeys((*_lost(before, after), *_lost_by_star(states, path, before, after))):
            what = f"`{path}` is gone" if after is None else f"`{path}` offers `{name}` no more"
            for user, use in _uses(states, path, name):
                if _is_through(states, path, user, use):
                    yield from _concern(states, (path, name), what, user, use)
        yield from _unlisted(states, path, before, after)


def _unlisted(states: States, path: str, before: Summary, after: Summary | None) -> Iterator[Concern]:
    """Yield the uses, by a star import, of names that `__all__` no longer lists, although the file still has them."""
    if after is None or before.exports is None or after.exports is None or before.language != "python":
        return
    for name in before.exports if STAR not in after.exports else ():
        if name in after.exports or not _has(after, name):
            continue
        for user, use in _uses(states, path, name):
            is_by_star = (
                _is_through(states, path, user, use) if not use.chain else _is_passed_on(states, path, user, use)
            )
            if is_by_star and NAME_FAILS not in use.expects:
                what = f"`__all__` of `{path}` lists `{name}` no more"
                how = f"still {how_used(use)} by a star import"
                is_only = states.old.use(user, use).path == path and _stars(states, user) == 1
                yield Concern(user, use.line, what, how, Evidence.CONTRACT, path, name, is_broken=is_only)


def _is_passed_on(states: States, path: str, user: str, use: Reference) -> bool:
    """Whether a use has the name from a file that has it from this one by a star import."""
    if use.use is Use.TEXT:
        return False
    for each in _modules(states.old.chain(user, use.chain)):
        summary = states.old.library.summary(each)
        if each == path or summary is None or _has(summary, use.name):
            continue
        stars = (taken.module for taken in summary.imports if taken.member == STAR)
        if any(path in _modules(states.old.chain(each, (f"import {module}",))) for module in stars):
            return True
    return False


def _stars(states: States, user: str) -> int:
    summary = states.new.library.summary(user)
    return sum(each.member == STAR for each in summary.imports) if summary else 0


def _lost(before: Summary, after: Summary | None) -> Iterator[str]:
    yield from (name for name in before.imported if not _has(after, name))


def _lost_by_star(states: States, path: str, before: Summary, after: Summary | None) -> Iterator[str]:
    """Yield the names from a star import that is gone."""
    kept = {each.module for each in after.imports if each.member == STAR} if after else set()
    for module in {each.module for each in before.imports if each.member == STAR} - kept:
        for source in _modules(states.old.chain(path, (f"import {module}",))):
            summary = states.old.library.summary(source)
            names = (*summary.offered, *summary.imported) if summary else ()
            yield from (name for name in names if "." not in name and not _has(after, name))


def _has(summary: Summary | None, name: str) -> bool:
    return summary is not None and (name in summary.imported or name in summary.offered)


def _without_module(states: States, path: str) -> Iterator[Concern]:
    """Yield the imports of the removed module; the uses of its names are found by their own contracts."""
    parts = path.rpartition(".")[0].removesuffix("/__init__").split("/")
    for user, use in _uses(states, path, parts[-1]):
        was = states.old.use(user, use)
        if use.use is Use.IMPORT and was.what is What.MODULE and path in was.paths:
            yield from _concern(states, (path, ""), f"`{path}` is gone", user, use)


def _uses(states: States, path: str, name: str) -> Iterator[tuple[str, Reference]]:
    """Yield the uses of a name in other files."""
    return ((user, use) for user, _, use in uses_of(states, name) if user != path)


def _is_through(states: States, path: str, user: str, use: Reference) -> bool:
    """Whether a use has the name from this file: by an attribute, an import, or a star."""
    if use.use is Use.TEXT and not is_test(user):
        return False
    if use.chain:
        return path in _modules(states.old.chain(user, use.chain))
    summary = states.old.library.summary(user)
    if summary is None or use.name in summary.imported or use.name in summary.offered:
        return False
    stars = (each for each in summary.imports if each.member == STAR)
    return any(path in _modules(states.old.chain(user, (f"import {each.module}",))) for each in stars)


def _modules(thing: Thing) -> tuple[str, ...]:
    return thing.paths if thing.what is What.MODULE else ()


def _concern(states: States, target: tuple[str, str], what: str, user: str, use: Reference) -> Iterator[Concern]:
    was, now = states.old.use(user, use), states.new.use(user, use)
    is_lost = was.what in _LASTING and now.what not in _LASTING
    if is_lost or (was.what is What.OUTSIDE and now.what is What.NOTHING):
        is_broken = now.what is What.NOTHING and use.use not in (Use.ANNOTATION, Use.EXPORT, Use.TEXT)
        yield Concern(user, use.line, what, f"still {how_used(use)}", Evidence.CONTRACT, *target, is_broken=is_broken)
