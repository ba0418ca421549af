"""From Python source to interfaces and dependencies inside one file: find the code that a change affects. Pure."""
