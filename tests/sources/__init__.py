"""Tests of `podpath.sources`."""
