"""The stores of the state: SQLite in the repository, PostgreSQL and Redis on a server, memory for tests."""
