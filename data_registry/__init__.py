"""What holds data: records and their identities, geometry, the store, releases, and the sources of driving logs.

The lowest layer: it imports nothing from the other packages.
"""
