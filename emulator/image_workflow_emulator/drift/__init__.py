"""Drift: what recorded traffic of the real service says about the readings of the specification."""
