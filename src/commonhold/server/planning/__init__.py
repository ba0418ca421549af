"""Plans made in worker processes, so that several are made at once and no other request waits for them.

wire.py    the messages between the daemon and its planners
planner.py the planner: one process that makes plans
pool.py    the planners of a daemon, and the choice of one for each plan
"""
