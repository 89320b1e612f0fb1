"""State of netfilter beside its rules: tracked connections and sets of addresses."""
