"""Cilium's options, wherever people show them."""
