"""The tests; the tree mirrors the packages. Not part of the wheel."""
