import pytest
from tests.unit.code.analysis.repository.stories import Story, shelf, stories

from commonhold.code.analysis.repository.examination import examine, examine_throughout
from commonhold.code.analysis.repository.library import Overlay
from commonhold.code.analysis.repository.summarise import summarise

STORIES = [pytest.param(story, id=f"{path.stem}: {story.title}") for path, story in stories()]


@pytest.mark.parametrize("story", STORIES)
def test_findings_are_as_written(story: Story) -> None:
    assert story.told() == story.expected


@pytest.mark.parametrize("story", STORIES)
def test_no_change_concerns_nobody(story: Story) -> None:
    for files in (story.before, story.after):
        for look in (examine, examine_throughout):
            assert look(shelf(files), shelf(files), list(files)).concerns == ()


@pytest.mark.parametrize("story", STORIES)
def test_it_is_the_same_laid_over_what_was_there(story: Story) -> None:
    before = shelf(story.before)
    files = {path: None if text is None else summarise(path, text.encode()) for path, text in story.becomes.items()}
    look = examine_throughout if story.title.startswith("throughout: ") else examine
    laid_over = look(before, Overlay(before, files), files)
    assert set(laid_over.concerns) == set(story.findings().concerns)
