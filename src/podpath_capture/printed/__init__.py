"""Printed packets as columns, and columns as printed packets."""
