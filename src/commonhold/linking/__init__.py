"""What a linker does for object files, done for a repository: what files offer and what they use is tied together."""
