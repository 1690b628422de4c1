"""Tests of the sources of driving logs."""
