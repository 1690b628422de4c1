"""Calibration of the checks: deliberately bad edits made from good ones, ROC curves, and the page that shows them."""
