"""Keeping a command from writing where it should not: what the kernel offers for it.

`landlock.py`, `mounts.py` and `confining.py` are loaded by a launcher that starts with every shell command: they need
nothing but the interpreter, and load little of that.
"""
