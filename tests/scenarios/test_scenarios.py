"""Plays the stories `*.txt` of this folder. `REWRITE=1 pytest tests/scenarios` writes what they print today."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.script import Block, blocks, written
from tests.scenarios.stage import Stage

pytestmark = pytest.mark.slow

STORIES = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_story(path: Path, tmp_path: Path) -> None:
    story = path.read_text(encoding="utf-8")
    played = play(story, Stage(tmp_path))
    if "REWRITE" in os.environ:
        path.write_text(played, encoding="utf-8")
    assert played == story


def play(story: str, stage: Stage) -> str:
    """The story as it goes today; a block ends with the first command that prints something."""
    try:
        played = [part for block in blocks(story) for part in play_block(block, stage)]
    finally:
        stage.close()
    return "\n\n".join(played) + "\n"


def play_block(block: Block, stage: Stage) -> Iterator[str]:
    given: list[str] = []
    for lines, command in block.commands():
        given += lines
        if command and (output := stage.run(command)):
            yield written(given, output)
            given = []
    if given:
        yield written(given, [])
