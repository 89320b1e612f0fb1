"""A page on this machine that asks podpath's library: follow a connection, try a change, compare
nodes. A distribution of its own, which brings the command `podpath ui`.
"""
