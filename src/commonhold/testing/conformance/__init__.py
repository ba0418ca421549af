"""The requirements for every store of leases, as tests that pytest collects from a class of yours.

    import pytest

    pytest.register_assert_rewrite("commonhold.testing.conformance")  # in conftest.py: failures show their values

    from commonhold.testing.conformance import RegistryConformance

    class TestMyStore(RegistryConformance):
        @pytest.fixture
        def rig(self):
            yield MyRig()  # see Rig: an empty namespace, and a way to move its clock

A registry whose `together` is a real transaction is also a `TransactionConformance`. A store of tasks is a
`TaskConformance`, whose rig is a TaskRig; one of runs as well is a `RunConformance`, whose rig is a RunRig; one of
the merge queue an `EntryConformance`, whose rig is an EntryRig; and one of managed sessions a `SessionConformance`,
whose rig is a SessionRig.
"""

from commonhold.testing.conformance.deadlocks import DeadlockConformance
from commonhold.testing.conformance.entries import EntryConformance, EntryRig
from commonhold.testing.conformance.leases import LeaseConformance
from commonhold.testing.conformance.names import NameConformance
from commonhold.testing.conformance.once import OnceConformance
from commonhold.testing.conformance.records import RecordConformance
from commonhold.testing.conformance.requests import RequestConformance
from commonhold.testing.conformance.rig import Rig
from commonhold.testing.conformance.runs import RunConformance, RunRig
from commonhold.testing.conformance.sessions import SessionConformance, SessionRig
from commonhold.testing.conformance.slots import SlotConformance
from commonhold.testing.conformance.tasks import TaskConformance, TaskRig
from commonhold.testing.conformance.transactions import TransactionConformance
from commonhold.testing.conformance.values import ValueConformance
from commonhold.testing.conformance.waiting import WaitingConformance
from commonhold.testing.conformance.works import WorkConformance

__all__ = [
    "EntryConformance",
    "EntryRig",
    "RegistryConformance",
    "Rig",
    "RunConformance",
    "RunRig",
    "SessionConformance",
    "SessionRig",
    "TaskConformance",
    "TaskRig",
    "TransactionConformance",
]


class RegistryConformance(
    LeaseConformance,
    NameConformance,
    WaitingConformance,
    DeadlockConformance,
    SlotConformance,
    OnceConformance,
    ValueConformance,
    RequestConformance,
    WorkConformance,
    RecordConformance,
):
    """All that is promised of a `Registry`. Each test takes the fixture `rig`, a Rig of its own."""
