"""podpath for assistants: read-only tools over the Model Context Protocol. A distribution of its
own, which brings the command `podpath mcp`.
"""
