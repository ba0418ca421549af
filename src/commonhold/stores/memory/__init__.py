"""The index of leases in memory that a daemon answers from."""
