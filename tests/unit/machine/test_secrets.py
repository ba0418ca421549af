"""Secrets are recognised by their form, wherever they stand in a text."""

import pytest

from commonhold.machine.secrets import masked


@pytest.mark.parametrize(
    "secret",
    [
        "chd_3f9a6c1e_" + "aB3-_" * 8,
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "a1B2_" * 9,
        "glpat-" + "a1B2" * 6,
        "sk-ant-" + "a1B2" * 9,
        "AKIA" + "A1B2" * 4,
        "xoxb-" + "1234567890-abc",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_a_secret_of_a_known_form_is_hidden(secret: str) -> None:
    assert masked(f'use {secret} for "it"') == 'use *** for "it"'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ann:hunter2@db/x", "postgresql://ann:***@db/x"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("?token=abc&x=1", "?token=***&x=1"),
    ],
)
def test_what_names_a_secret_stays(text: str, shown: str) -> None:
    assert masked(text) == shown


@pytest.mark.parametrize(
    "text", ["src/sketch.py#sk", "lease-3f9a6c1e8b2d4f70", "0" * 64, "commit 4be1f0c of ann", "def token(): pass"]
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert masked(text) == text
