"""The JSON form of the answer to undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from commonhold.api.wire import shapes

if TYPE_CHECKING:
    from commonhold.api.wire.text import Json
    from commonhold.commits.undo.answers import UndoAnswer


def undo(answer: UndoAnswer) -> Json:
    """The answer to undo. `merged`: the file does not get back an earlier content, since others have changed it."""
    return {
        "outcome": answer.outcome,
        "code": answer.code,
        "why": answer.why,
        "commits": [shapes.change(each) for each in answer.commits],
        "files": [
            {
                "path": each.path,
                "before": each.before,
                "after": each.after,
                "merged": each.is_merged,
                "diff": each.diff,
            }
            for each in answer.files
        ],
        "later": [msgspec.to_builtins(each) for each in answer.later],
        "unmerged": [msgspec.to_builtins(each) for each in answer.unmerged],
        "commit": shapes.commit(answer.commit) if answer.commit else None,
        "sequence": answer.sequence,
        "ways": [shapes.next_call(each) for each in answer.ways],
    }
