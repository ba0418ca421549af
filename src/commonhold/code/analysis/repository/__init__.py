"""A linker for repositories: it resolves the names that files use to the definitions that other files offer."""
