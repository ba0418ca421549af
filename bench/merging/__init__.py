"""How well merging does on real work: pairs of features made apart, the merges in the histories of projects, and speed.

`make bench-merge` is given the folders of fetched data; nothing of it is kept in this repository.
"""
