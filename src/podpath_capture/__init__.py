"""Captured packets as NumPy columns, read from pcap, pcapng and printed text. A distribution of
its own, which `podpath[capture]` brings.
"""
