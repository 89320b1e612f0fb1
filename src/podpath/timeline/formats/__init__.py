"""The formats of logs: one module for each, and one table of them all."""
