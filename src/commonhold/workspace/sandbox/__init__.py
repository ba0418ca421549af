"""Keep a command from other holders' files, and from nothing else: with the means of the kernel.

`mounts.py` and `kernel.py` are loaded by a launcher that starts with every shell command: they need nothing but the
interpreter, and load little of that.
"""
