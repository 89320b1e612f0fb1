"""Tests of the agent's part that hears drops."""
