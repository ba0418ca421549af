"""Find the code that a change affects: in one Python file here, in any file of the repository in `repository`. Pure."""
