"""`bridge` and `brctl`: ports, forwarding entries and VLANs of Linux bridges."""
