"""How well admission across files does on real work: functions changed on purpose, commits of real projects, new callers
made beside a changed signature, conflicts that others collected, and speed.

`make bench-semantics` is given the folders of fetched data; nothing of it is kept in this repository.
"""
