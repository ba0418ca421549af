"""Ways in for programs: MCP on standard input and output."""
