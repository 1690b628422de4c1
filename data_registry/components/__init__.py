"""The components that a release can hold, one module each; importing a module registers its component."""
