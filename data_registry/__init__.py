"""What holds data: sources of driving logs, records and their identities, the store, and releases.

This package owns geometry, canonical keys and seeds, the ledger and blobs, and the bytes of a release. It is the lowest
layer: it imports no other package of this project.
"""
