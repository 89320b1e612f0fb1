"""Packets put together to flows and connections, and what one capture point shows of them."""
