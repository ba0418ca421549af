"""The implementations of the ports: SQLite, files, the machine's clock."""
