"""Faults of devices and neighbors: links, bridges, bonds, addresses, ARP."""
