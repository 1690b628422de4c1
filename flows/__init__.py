"""Prefect entry points and the command line: only wiring, no computing."""
