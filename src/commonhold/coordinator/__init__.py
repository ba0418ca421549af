"""Carrying out runs: the roles, the editors at work, and the process that coordinates them."""
