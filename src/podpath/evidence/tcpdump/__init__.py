"""tcpdump's text: frames, packets and what they carry."""
