"""Tests of scene3d."""
