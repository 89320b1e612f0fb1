"""Faults between nodes: each node is in order by itself, and what one holds of the other is not."""
