"""Target extensions of iptables, one module each (`-j NAME`)."""
