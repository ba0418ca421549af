"""The daemon: one process for each repository. It owns the state, serves all clients, and batches flushes.

peer.py       one client's connection: bytes in, requests out
desk.py       runs requests: many in one transaction, slow ones in threads, waiting ones later
loop.py       waits for the next event: bytes, finished work, a point in time
lifetime.py   becomes the only one, and stops when it is no longer needed
supervisor.py starts it, and restarts it when it is killed
"""
