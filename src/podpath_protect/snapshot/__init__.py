"""The agent's snapshot endpoint: this node as a bundle, over TLS, for whoever the API server
allows.
"""
