"""The index on disk: summaries of files by the hash of their content, and which file of which state has which."""
