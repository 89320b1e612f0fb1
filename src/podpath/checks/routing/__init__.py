"""Faults of routes, policy rules, forwarding, and the checks of a packet's source address."""
