"""Tests of `podpath.protect.snapshot`."""
