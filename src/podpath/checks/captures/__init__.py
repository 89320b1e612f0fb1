"""Faults that captures show by themselves: what was lost, refused, or answered untranslated."""
