"""Values that every package speaks: addresses, prefixes, packets, probes, and where a fact came
from.
"""
