"""Netfilter: the hooks, the chains of iptables, and the order in which they see a packet.

Three questions go back to routing, asked by the functions of `podpath.datapath.routing` alone:
`address_type(walk, netns, address, link=None)` gives `inet_dev_addr_type` (`local`, `broadcast`,
`multicast`, `unicast`, ...; with a link, local counts only where the address is on it),
`select_source(walk, netns, link, nexthop)` gives `inet_select_addr` at universe scope (or None),
and `reverse_path(walk, skb, *, mark, loose, accept_local)` gives what `-m rpfilter` looks up.
"""
