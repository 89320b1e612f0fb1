"""Neighbor resolution and ARP."""
