"""The cluster around a guarded node: its pods, followed by a list-watch that outlives the server,
and the few things that a guard does there (an event, an eviction, a taint), all by the client of
`podpath.kube`.

A list-watch of our own, since a watch that survives is the whole point.
"""
