"""Writes by anything but a commit: tools of agents, commands, people and programs."""
