"""Notices about keys that do not exist."""

from commonhold.kernel.clock import Deadline
from commonhold.kernel.lease import Base, Lease
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Granted
from commonhold.leases.answers import for_writing, granted

KEY = "file:a.py#totl"
LEASE = Lease(
    "lease-1", 1, "ann", "", (KEY,), Mode.EXCLUSIVE, "", 1.0, Deadline("boot", 9.0, 9.0), bases=(Base(KEY, None),)
)


def test_a_caller_that_creates_a_key_is_not_asked_whether_it_means_another() -> None:
    answer = granted(Granted(LEASE), near=lambda key: [f"{key.file}#total"])
    (notice,) = answer.notices
    assert notice.endswith("did you mean file:a.py#total?")
    assert for_writing(answer, [KEY]).notices == ()
    assert for_writing(answer, ["file:a.py#other"]).notices == (notice,)
    assert for_writing(answer, []).notices == (notice,)
