"""Branches by their short and by their full name."""

import pytest

from commonhold.kernel.refs import full_ref, short_ref


@pytest.mark.parametrize(
    ("branch", "ref"),
    [("main", "refs/heads/main"), ("agent/s-1", "refs/heads/agent/s-1"), ("heads", "refs/heads/heads")],
)
def test_a_branch_has_one_full_and_one_short_name(branch: str, ref: str) -> None:
    assert (full_ref(branch), short_ref(ref)) == (ref, branch)
    assert (full_ref(ref), short_ref(branch)) == (ref, branch)


def test_other_refs_are_no_branches() -> None:
    assert short_ref("refs/tags/v1") == "refs/tags/v1"
