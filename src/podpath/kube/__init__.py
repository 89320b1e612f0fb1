"""The one room that speaks to API servers: access, one client, a list-watch that outlives its
server, and the few verbs that are needed.

It needs the extra `podpath[k8s]`. Configuration, authentication and TLS are lightkube's; requests,
errors and the list-watch are our own, since a watch that survives is the whole point.
"""
