"""Tests of the embedded log."""
