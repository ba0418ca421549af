"""The changes that a commit makes to the contracts of definitions."""

from collections.abc import Iterable, Sequence

from commonhold.code.analysis.repository.changes import contract_changes
from commonhold.code.analysis.repository.recent_summaries import recent_summary
from commonhold.commits.draft import Draft
from commonhold.commits.plan import CrossFileEffects
from commonhold.kernel.events import ContractChange
from commonhold.kernel.keys import canonical
from commonhold.reads.reading import contents_of


def contracts_changed(drafts: Sequence[Draft], crossed: CrossFileEffects) -> tuple[ContractChange, ...]:
    """Return the contracts that differ from the present ones once the drafts are written.

    Definitions of a renamed or deleted file count as gone from the place where they were read. `crossed` has the
    summaries, if these drafts were examined against other files.
    """
    found: list[ContractChange] = []
    for draft in drafts:
        source = next((each.source for each in drafts if each.target == draft.path and each.source is not None), None)
        if draft.looked is None or source == draft.before_map.source:
            continue
        if crossed.library is not None:
            before, after = crossed.before.get(draft.path), crossed.files.get(draft.path)
        else:
            before = recent_summary(draft.path, draft.before_map.source)
            after = recent_summary(draft.path, source) if source is not None else None
        file = draft.before_map.file.key
        found += [ContractChange(f"{file}#{each.qualname}", each.what) for each in contract_changes(before, after)]
    return tuple(found)


def texts_of(changes: Iterable[ContractChange], drafts: Sequence[Draft]) -> dict[str, bytes]:
    """Return the texts, before and after, of regions with a changed contract: readers see the difference."""
    contents: dict[str, bytes] = {}
    for key in map(canonical, (change.key for change in changes)):
        for draft in drafts:
            for source in (draft.before_map, draft.after_map):
                for region in source.by_bare_key.get(key, ()):
                    contents |= contents_of(source, region)
    return contents
