"""Faults of connection tracking: full, stale, untracked, raced for."""
