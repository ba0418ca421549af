"""State in memory: stores and an index for tests and trials, and the index of leases that a daemon answers from."""
