"""The agent: every part of protect in one process: one configuration file, health endpoints,
metrics, events, a node taint.
"""
