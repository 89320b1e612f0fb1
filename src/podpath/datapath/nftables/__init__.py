"""Native nftables: base chains at hooks, their rules, sets and maps, as
net/netfilter/nf_tables_core.c v6.12 runs them.
"""
