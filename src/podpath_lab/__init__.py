"""A Node rebuilt in network namespaces on the real kernel, and what the kernel does compared with
what the model says.
"""
