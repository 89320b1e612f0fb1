"""The order keeper: jumps of base chains that must stand before others, watched and moved, in both
backends of iptables.
"""
