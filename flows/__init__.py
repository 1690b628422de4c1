"""The entry points: Prefect flows, the command line, and the settings both take.

This package owns the wiring and nothing else: which stage runs, on which items, where it runs and what it shows. It
computes no result of its own, so that a reader sees a benchmark being made from top to bottom.
"""
