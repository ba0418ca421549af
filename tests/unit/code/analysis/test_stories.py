import pytest
from tests.unit.code.analysis.stories import Story, stories, told

STORIES = [pytest.param(story, id=f"{path.stem}: {story.title}") for path, story in stories()]


@pytest.mark.parametrize("story", STORIES)
def test_findings_are_as_written(story: Story) -> None:
    assert told(story.findings()) == story.expected


@pytest.mark.parametrize("story", STORIES)
def test_no_change_concerns_nobody(story: Story) -> None:
    same = Story(story.title, story.after, story.after, ("->",), "")
    assert told(same.findings()) == ""
