"""What is asked for: the taxonomy of hazard tasks and the templates that turn them into prompts."""
