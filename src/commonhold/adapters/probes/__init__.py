"""Looking at the machine, the repository and the state without changing any of them: what `doctor` reports."""
