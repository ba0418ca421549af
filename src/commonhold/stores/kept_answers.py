"""Answers that are kept for repeated requests, to JSON and back.

The name of an answer's class is stored with it, and the scripts in `redis/` return it: renaming one needs a migration.
"""

from typing import Any, Final, get_args

from commonhold.kernel import outcomes
from commonhold.kernel.answers import AcquireAnswer, Answer, CommitAnswer, LeaseAnswer
from commonhold.landing.commands import EntryOutcome
from commonhold.runs.commands import RunOutcome
from commonhold.sessions.commands import SessionOutcome
from commonhold.stores.codec import decode, encode
from commonhold.tasks.commands import TaskOutcome

ANSWERS: Final[dict[str, type[Any]]] = {
    kind.__name__: kind
    for kind in (
        AcquireAnswer,
        LeaseAnswer,
        CommitAnswer,
        *get_args(outcomes.Outcome),
        *get_args(TaskOutcome),
        *get_args(RunOutcome),
        *get_args(EntryOutcome),
        *get_args(SessionOutcome),
    )
}


def encode_answer(answer: object) -> tuple[str, bytes]:
    """The kind and the JSON body of an answer that is kept for a repeated request."""
    return type(answer).__name__, encode(answer)


def decode_answer(
    kind: str, body: bytes | str
) -> Answer | outcomes.Outcome | TaskOutcome | RunOutcome | EntryOutcome | SessionOutcome:
    """The kept answer back."""
    answer: Answer | outcomes.Outcome | TaskOutcome | RunOutcome | EntryOutcome | SessionOutcome
    answer = decode(body, ANSWERS[kind])
    return answer
