"""Changes that nobody has made yet, as files say them, to changes of a node."""
