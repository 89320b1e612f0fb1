"""Findings and traces to terminal text and JSON. Strings only."""
