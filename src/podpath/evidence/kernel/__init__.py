"""The node's kernel: its release, modules, sysctls and counters."""
