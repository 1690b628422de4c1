"""Who finds the ground that a hazard takes: the role is in `localizer.py`, each back end in its own module."""
