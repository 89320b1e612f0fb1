"""podpath for many: connections by the hundred thousand through one node, and any number of nodes.

A distribution of its own, which brings the command `podpath fleet`; `podpath trace --flows` and
`podpath.walk_many` need it.
"""
