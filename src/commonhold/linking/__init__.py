"""What a linker does for object files, done for a repository: each file's summary offers and uses names; they are tied."""
