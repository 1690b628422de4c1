"""What is asked for: the hazard taxonomy, one file a task, and the templates of every prompt.

This package owns the schema of task files, the checks that refuse a bad one, and the rendering of templates. It calls
no model.
"""
