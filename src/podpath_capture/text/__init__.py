"""Printed captures to columns without an object for a line."""
