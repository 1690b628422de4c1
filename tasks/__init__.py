"""The stages: `stage.py` runs any of them, and each other module holds one as a pure typed function."""
