"""Tests of `podpath_protect.snapshot`."""
