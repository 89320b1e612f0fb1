"""The bridge, and br_netfilter, which shows bridged packets to the packet filter."""
