"""What holds data: records and their identities, geometry, the store, releases, and the sources that logs are read from.

The lowest layer: it imports nothing from the other packages.
"""
