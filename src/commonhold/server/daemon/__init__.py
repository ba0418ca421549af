"""The daemon: one process a repository that owns its state, serves everybody over a socket, and flushes once for many.

peer.py       one client's connection: bytes in, requests out
desk.py       what a request asks for is done: many in one transaction, slow ones beside, patient ones later
loop.py       waits for whatever comes first: bytes, work that is done, a point in time
lifetime.py   becomes the only one, and stops when nobody needs it
supervisor.py begins it, and begins it again where it is killed
"""
