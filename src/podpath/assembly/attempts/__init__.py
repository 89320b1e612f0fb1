"""Connections that somebody tried, or that were seen to fail."""
