"""Planners: what answers a case with a trajectory."""
