"""Faults of rules: what drops, what is not translated, what was not written, and in which order
rules stand.
"""
