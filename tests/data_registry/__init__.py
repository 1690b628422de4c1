"""Tests of data_registry."""
