"""Commonhold beside the two fastest tools of its kind: the same load on all, in turn, on the same disk.

`make bench-rivals` installs each rival into an environment of its own, so that nothing of it reaches ours.
"""
