"""net-tools: `arp`, `route`, `netstat`, and `ss`, which took over netstat's place."""
