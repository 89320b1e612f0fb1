"""Bundles that other tools make: which of their files holds the output of which command, of which
namespace and host.
"""
