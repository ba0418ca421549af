"""How programs reach the service: in this process, or through the daemon of the repository. Both look the same."""
