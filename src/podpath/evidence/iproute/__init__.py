"""`ip`: devices, addresses, routes, policy rules and neighbors, as text and as JSON."""
