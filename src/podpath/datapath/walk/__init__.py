"""The packet and the state that a walk hands from stage to stage, and what is compiled once for a
node.
"""
