"""Meshes, light and a rasteriser: one small renderer for the embedded logs and for the compositor."""
