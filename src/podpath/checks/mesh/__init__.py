"""Faults of meshes and of their proxies: mutual TLS, authorization, upstreams."""
