"""The stages: one module each, a pure typed function from a record to a record, and the runner that drives any of them.

This package owns what a stage does with one item and how batches of items reach a back end. It knows nothing of
Prefect, of the command line or of where the results are kept.
"""
