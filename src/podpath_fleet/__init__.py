"""podpath for many: connections by the hundred thousand through one node, by classes of them.

A distribution of its own, which `podpath trace --flows` and `podpath.walk_many` need.
"""
