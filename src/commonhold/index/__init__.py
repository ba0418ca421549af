"""The index on disk: summaries of files by the hash of their content, and the summary of each file in each state."""
