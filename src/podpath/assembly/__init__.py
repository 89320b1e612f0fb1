"""Records to the Node: the one translator, which keeps contradictions and gaps."""
