"""Tests of faults between nodes."""
