"""iptables and ip6tables: rulesets as they are saved, typed and listed."""
