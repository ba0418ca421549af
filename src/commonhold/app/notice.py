"""How a change by another is told: a leaf, for whoever shows it and knows nothing else of answers."""

MOST_DIFF_LINES = 40


def notice_of(text: str, diff: str | None) -> str:
    """The text, and below it the difference, where it is not long."""
    return f"{text}\n{diff}" if diff is not None and diff.count("\n") < MOST_DIFF_LINES else text
