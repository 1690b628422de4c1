"""Tests of models.editors."""
