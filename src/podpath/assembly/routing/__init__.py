"""Routes, policy rules, their tables, and neighbors."""
