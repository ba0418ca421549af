"""The command line: one file a command. `program` maps error families to exit codes."""
