"""Entry points: what runs where, and what it shows."""
