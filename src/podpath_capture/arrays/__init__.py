"""Arithmetic on whole arrays that knows nothing of packets: runs, addresses, words of eight
bytes.
"""
