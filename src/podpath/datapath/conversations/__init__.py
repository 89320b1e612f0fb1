"""A connection's packets walked one after another, and where they enter the node."""
