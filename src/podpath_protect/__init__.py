"""Keeps the path: redirect validator, CNI chain keeper, sysctl keeper, order keeper, pod repair,
and the agent that runs them.
"""
