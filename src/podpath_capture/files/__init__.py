"""Capture files: where their packets stand, in pcap and pcapng, whole and damaged."""
