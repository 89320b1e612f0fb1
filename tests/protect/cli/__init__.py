"""Tests of `podpath protect`'s command line."""
