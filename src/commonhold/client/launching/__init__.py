"""The launcher of a shell command: asks what it may write, runs it so, and tells what became of it.

It is started with every command of an agent. So it loads a few modules of the interpreter and nothing of the package
but this folder and that of the sandbox, each by itself.
"""
