"""Whether it is good: measured checks of an edit, samples for human audit, and the pages that auditors read.

This package owns what is measured and how it is shown. It gives values and says where a check does not apply; verdicts
belong to the decide stage. It does not import `models`.
"""
