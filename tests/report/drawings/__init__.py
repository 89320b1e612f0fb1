"""Drawn paths."""
