"""The service that all entry points call, and the formats of its calls and answers."""
