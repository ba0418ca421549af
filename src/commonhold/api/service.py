"""All use cases of one working tree, for one agent session: the interface behind every entry point."""

from typing import Final

from commonhold.api.file_operations import FileOperations
from commonhold.api.lease_operations import LeaseOperations
from commonhold.api.operations import declared
from commonhold.api.session_operations import SessionOperations
from commonhold.api.state_operations import StateOperations
from commonhold.api.work_operations import WorkOperations


class Service(StateOperations, SessionOperations, WorkOperations, LeaseOperations, FileOperations):
    """One agent session's access to the files and leases that it shares with others.

    Keys are accepted in any form (`src/a.py`, `src/a.py#C.m`, `file:…`, `method::src/a.py::C.m`, `account:12345`).
    Refusals are answers. Errors are CommonholdError, with a code and a hint; after one, nothing has changed. Threads of
    one process may share an instance; they take turns.
    """


OPERATIONS: Final = declared(Service)
"""The operations of the service, by name."""
