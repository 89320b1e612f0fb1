"""Match extensions of iptables, one module each (`-m NAME`)."""
