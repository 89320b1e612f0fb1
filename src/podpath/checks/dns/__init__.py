"""Faults of names: resolvers, their upstreams, resolv.conf."""
