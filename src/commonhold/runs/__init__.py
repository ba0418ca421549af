"""Runs: the blackboard on which the roles of a run meet, and the decisions about it."""
