"""The chain keeper: keeps a plugin in the CNI configuration that the runtime loads, and takes it
out again in a safe order.
"""
