"""Captured packets as NumPy columns, read from pcap and pcapng. Needs the extra
`podpath[capture]`.
"""
