"""The launcher of a shell command: asks which files the command may write, runs it so, and reports its end.

It is started with every command of an agent. So it loads a few modules of the interpreter and nothing of the package
but this folder and that of the sandbox, each by itself.
"""
