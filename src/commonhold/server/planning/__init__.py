"""Plans made in worker processes, so that several are made at once and nobody else waits behind them.

wire.py    what goes between the daemon and its planners
planner.py the planner: one process that makes plans
pool.py    the planners of a daemon, and which of them makes a plan
"""
