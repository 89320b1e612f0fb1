"""Rulesets, sets and tracked connections, from iptables, nft, ipset and conntrack."""
