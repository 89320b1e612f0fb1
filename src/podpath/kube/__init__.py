"""The one room that speaks to API servers: access, one client, and what a server grants.

It needs the extra `podpath[k8s]`. Configuration, authentication and TLS are lightkube's; requests
and errors are our own. What follows pods and acts on them is protect's
(`podpath_protect.cluster`), by this client.
"""
