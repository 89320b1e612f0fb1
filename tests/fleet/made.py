"""How large the small fleet of these tests is."""

NODES = 6
BROKEN = 4
"""The node whose reverse path filter is on."""
