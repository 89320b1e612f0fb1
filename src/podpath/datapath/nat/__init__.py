"""Network address translation: what a connection's tuples become, and how packets are rewritten to
them.
"""
