"""Faults of network plugins: configurations, programs, agents, addresses for pods."""
