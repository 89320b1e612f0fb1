"""Matches and targets of iptables: one module each, registered in `registry`."""
