"""Sweeps: the runs of a benchmark's table, from one file that lists them, and how far they are."""
