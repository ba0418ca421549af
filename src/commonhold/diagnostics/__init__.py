"""Read-only checks of the machine, the repository and the state: the findings that `doctor` reports."""
