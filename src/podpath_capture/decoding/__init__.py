"""Bytes of packets to columns, header by header, all packets with the same header at once."""
