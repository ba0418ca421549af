"""The text of a notice about another's change: a leaf, for modules that show it without loading the answers."""

MOST_DIFF_LINES = 40


def notice_of(text: str, diff: str | None) -> str:
    """Return the text, followed by the diff if that is not long."""
    return f"{text}\n{diff}" if diff is not None and diff.count("\n") < MOST_DIFF_LINES else text
