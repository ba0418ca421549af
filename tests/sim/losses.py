"""What must not be lost, whoever writes when: a story held against the log, and against what is kept."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.sim.tool_users import PATHS, Story, Told

from commonhold.api.service import Service
from commonhold.code.regions.region import hash_bytes
from commonhold.commits.external.external_writes import OUTSIDE
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.events import Committed, FileChange

TOKEN = re.compile(rb"\bt\d+_")


@dataclass(frozen=True)
class Step:
    """What one recorded commit did to one file."""

    commit: Committed
    change: FileChange
    before: frozenset[bytes]
    after: frozenset[bytes]


def losses(story: Story) -> list[str]:
    """All that is wrong, in words."""
    service = story.stage.service(None)
    steps = {path: list(_steps(service, path)) for path in PATHS}
    return [
        *(each for path in PATHS for each in _taken_away(path, steps[path])),
        *(each for path in PATHS for each in _not_as_recorded(story, path, steps[path])),
        *_gone(story, service, steps),
    ]


def harm(story: Story) -> list[str]:
    """All that is wrong where nobody was late: then nothing is overwritten, and nothing has to be reviewed."""
    service = story.stage.service(None)
    flagged = [each.event for path in PATHS for each in service.commits_on(path)]
    return [
        *losses(story),
        *(f"{each.holder}: {each.unadmitted}" for each in flagged if isinstance(each, Committed) and each.unadmitted),
        *(f"{each.token} is gone" for each in story.edits if each.is_settled and not _is_there(story, each)),
    ]


def _is_there(story: Story, edit: Told) -> bool:
    return edit.token.encode() in TOKEN.findall(story.stage.root.joinpath(edit.path).read_bytes())


def _steps(service: Service, path: str) -> Iterator[Step]:
    for recorded in service.commits_on(path):
        assert isinstance(recorded.event, Committed)
        for change in recorded.event.files:
            if change.path == path:
                yield Step(recorded.event, change, _tokens(service, change.before), _tokens(service, change.after))


def _tokens(service: Service, content_hash: str | None) -> frozenset[bytes]:
    return frozenset(TOKEN.findall(service.content(content_hash))) if content_hash else frozenset()


def _taken_away(path: str, steps: list[Step]) -> Iterator[str]:
    """No agent's edit was admitted that takes away what another's brought."""
    for step in steps:
        lost = step.before - step.after
        if lost and step.commit.holder != OUTSIDE and not step.commit.unadmitted:
            yield f"{path}: {step.commit.holder} took {sorted(lost)} away, and nobody said a word"


def _not_as_recorded(story: Story, path: str, steps: list[Step]) -> Iterator[str]:
    """The newest record is what is there."""
    there = hash_bytes(story.stage.root.joinpath(path).read_bytes())
    if steps and steps[-1].change.after != there:
        yield f"{path} is not what the log says"


def _gone(story: Story, service: Service, steps: dict[str, list[Step]]) -> Iterator[str]:
    """What an agent was told is done is there, or a record that says so took it away; and all can be had again."""
    for edit in story.edits:
        token = edit.token.encode()
        is_there = _is_there(story, edit)
        is_recorded = any(token in step.after for step in steps[edit.path])
        if edit.is_settled and not edit.was_said_to_be_gone and not is_there and not is_recorded:
            yield f"{edit.token} was said to be done, and neither the file nor the log has it"
        if edit.is_settled and is_recorded and not is_there and not _was_taken(token, steps[edit.path]):
            yield f"{edit.token} is gone, and no record says so"
        try:
            service.content(hash_bytes(edit.foretold))
        except CommonholdError:
            yield f"{edit.token} cannot be had again"


def _was_taken(token: bytes, steps: list[Step]) -> bool:
    return any(token in step.before and token not in step.after for step in steps)
