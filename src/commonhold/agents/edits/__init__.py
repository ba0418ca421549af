"""Predict the effect of an agent's own edit tools."""
