"""Sets of addresses that rules ask."""
