"""The host of managed sessions: their workspaces, and a supervisor process for each that runs."""
