"""The ports, made of real things: SQLite, files, the machine's clock."""
