"""Where a task's hazard could go: candidates in a seeded order, each with its shape and the ground it takes.

`spots` says where on the course hazards of a task may be, `bodies` what stands, lies, hangs or opens there,
`candidates` which ground each of them takes.
"""

from models.placements.candidates import Candidate, PlacingRules, candidates

__all__ = ["Candidate", "PlacingRules", "candidates"]
