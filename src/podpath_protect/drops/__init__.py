"""The agent's part `drops`: packets that this node's kernel drops, heard by one watching process,
counted for Prometheus, and streamed to whoever the API server allows.
"""
