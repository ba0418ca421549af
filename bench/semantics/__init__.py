"""How well admission across files does on real work, and how fast it is.

Functions changed on purpose, commits of real projects, callers added beside changed signatures, conflicts of others.

`make bench-semantics` is given the folders of fetched data; nothing of it is kept in this repository.
"""
