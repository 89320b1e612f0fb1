"""Faults of tunnels: sizes, keys, endpoints, checksums."""
