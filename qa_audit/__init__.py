"""Whether it is good: checks on edits, sampling for audits, galleries and reports."""
