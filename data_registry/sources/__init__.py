"""Where driving logs come from; `source.py` says what a source gives, each other module reads one format."""
