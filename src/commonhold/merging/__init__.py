"""Three versions of a file in, one program out, or the reasons why not. Pure; nothing here opens a file."""
