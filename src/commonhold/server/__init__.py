"""The servers for programs: the daemon, HTTP for hooks and shells, and MCP."""
