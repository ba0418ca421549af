"""Measurements, as ratios within one run. Every bench prints a table and writes `build/bench/NAME.json`."""
