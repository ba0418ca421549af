"""What both sides add to a change log stands there once, whole, and under the heading that its writer put it under."""

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven

RST = """Version 2.0
-----------

Unreleased

-   One. :issue:`1`
@-   Two. :issue:`2`
    More of two.
&

Version 1.0
-----------

Released 2020-01-01

-   Old.
"""
MARKDOWN = """# Changes

## [Unreleased]

### Added

- One.
  (#1)
@- Two.
  (#2)
&
## [1.0] - 2020-01-01

### Added

- Old.
"""
LABELLED = """### Development
[Full Changelog](https://example.com/v1...main)

Enhancements:

* One. (#1)
@* Two. (#2)
&
### 1.0 / 2020-01-01

Bug fixes:

* Old.
"""
Replacement = tuple[str, str]
Case = tuple[str, str, str | Replacement, str | Replacement]


def sides(text: str, ours: str | Replacement, theirs: str | Replacement) -> tuple[bytes, bytes, bytes]:
    """The text, and what each side makes of it: it adds a text, ours at `@` and theirs at `&`, or replaces one."""
    plain = text.replace("@", "").replace("&", "")
    made = (
        text.replace(mark, each).replace("@&".replace(mark, ""), "")
        if isinstance(each, str)
        else plain.replace(*each, 1)
        for mark, each in (("@", ours), ("&", theirs))
    )
    first, second = made
    return plain.encode(), first.encode(), second.encode()


FREE: dict[str, Case] = {
    "rst, two places": ("CHANGES.rst", RST, "-   Six. :issue:`6`\n", "-   Seven. :issue:`7`\n"),
    "markdown, two places": ("CHANGELOG.md", MARKDOWN, "- Six.\n  (#6)\n", "- Seven.\n  (#7)\n"),
    "two labels": ("Changelog.md", LABELLED, "* Six. (#6)\n", "\nBug fixes:\n\n* Seven. (#7)\n"),
    "beside a link that says nothing of a release": (
        "Changelog.md",
        LABELLED,
        "* Six. (#6)\n",
        ("compare", "diff"),
    ),
    "beside a release of another section": ("CHANGES.rst", RST, "-   Six.\n", ("2020-01-01", "2020-01-02")),
}
MEANT: dict[str, Case] = {
    "rst, a release of what was unreleased": (
        "CHANGES.rst",
        RST,
        "-   Six. :issue:`6`\n",
        ("Unreleased", "Released 2021-01-01"),
    ),
    "rst, a date instead of a plan": (
        "CHANGES",
        RST.replace("Unreleased", "(bugfix release, release date to be selected)"),
        "-   Six.\n",
        ("release date to be selected", "released on January 28th 2021"),
    ),
    "markdown, a heading renamed to a release": (
        "CHANGELOG.md",
        MARKDOWN,
        "- Six.\n  (#6)\n",
        ("## [Unreleased]", "## [1.1] - 2021-01-01"),
    ),
    "markdown, a heading put between": (
        "CHANGELOG.md",
        MARKDOWN,
        "- Six.\n  (#6)\n",
        ("### Added", "## [1.1] - 2021-01-01\n\n### Added"),
    ),
    "a release put between a label and what is over it": (
        "Changelog.md",
        LABELLED,
        "* Six. (#6)\n",
        ("Enhancements:", "### 1.1 / 2021-01-01\n\nEnhancements:"),
    ),
    "one label put at two places": (
        "Changelog.md",
        LABELLED,
        ("* One.", "* Zero.\n\nDocs:\n\n* One."),
        "\nDocs:\n\n* Seven. (#7)\n",
    ),
    "two releases of one entry": (
        "CHANGELOG.md",
        MARKDOWN,
        ("- One.", "- Zero.\n\n## [1.1] - 2021-01-01\n\n- One."),
        ("- Two.", "## [1.2] - 2021-01-02\n\n- Two."),
    ),
}


@pytest.mark.parametrize("name", FREE)
def test_what_both_sides_add_to_a_change_log_is_proven(name: str) -> None:
    path, text, ours, theirs = FREE[name]
    assert isinstance(merge(*sides(text, ours, theirs), path), Proven)


@pytest.mark.parametrize("name", MEANT)
def test_what_would_stand_under_another_heading_is_not_proven(name: str) -> None:
    path, text, ours, theirs = MEANT[name]
    assert isinstance(merge(*sides(text, ours, theirs), path), Unproven)


# Entries that both sides put at one point, and what comes of it; None where nothing may be proven.
AT_ONE_POINT = {
    "another first line, one last line": (
        "- Six.\n  (#6)\n",
        "- Seven.\n  (#6)\n",
        "- Seven.\n  (#6)\n- Six.\n  (#6)\n",
    ),
    "one first line, another last line": ("- Six.\n  (#6)\n", "- Six.\n  (#7)\n", None),
    "an entry of both": (
        "- Both.\n  (#5)\n- Six.\n  (#6)\n",
        "- Both.\n  (#5)\n- Seven.\n  (#7)\n",
        "- Both.\n  (#5)\n- Seven.\n  (#7)\n- Six.\n  (#6)\n",
    ),
    "paragraphs": ("\nSix is\nnew.\n", "\nSeven is\nnew.\n", "\nSeven is\nnew.\n\nSix is\nnew.\n"),
    "two releases": ("\n## [0.9]\n\n- Six.\n", "\n## [0.8]\n\n- Seven.\n", None),
    "two sections": (
        "\n### Fixed\n\n- Six.\n",
        "\n### Removed\n\n- Seven.\n",
        "\n### Fixed\n\n- Six.\n\n### Removed\n\n- Seven.\n",
    ),
    "an entry and a section": (
        "\n### Fixed\n\n- Six.\n",
        "- Seven.\n",
        "- Seven.\n\n### Fixed\n\n- Six.\n",
    ),
}


@pytest.mark.parametrize("name", AT_ONE_POINT)
def test_entries_at_one_point_are_kept_whole(name: str) -> None:
    ours, theirs, both = AT_ONE_POINT[name]
    text = MARKDOWN.replace("@", "")
    base, first, second, wanted = (text.replace("&", each).encode() for each in ("", ours, theirs, both or ""))
    answer = merge(base, first, second, "CHANGELOG.md")
    assert answer.source == wanted if isinstance(answer, Proven) else both is None


def test_requirements_that_both_sides_add_stand_once() -> None:
    answer = merge(b"a\n", b"a\nb\nshared\n", b"a\nc\nshared\n", "requirements.txt")
    assert isinstance(answer, Proven)
    assert answer.source == b"a\nb\nc\nshared\n"
