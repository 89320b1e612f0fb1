"""Faults of the host and of what is outside it: limits, kernel support, managers, clouds."""
