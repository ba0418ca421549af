"""Keeping a command from what others hold, and from nothing else: what the kernel offers for it.

`mounts.py` and `kernel.py` are loaded by a launcher that starts with every shell command: they need nothing but the
interpreter, and load little of that.
"""
