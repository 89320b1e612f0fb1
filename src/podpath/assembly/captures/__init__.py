"""Frames of captures: where each was seen, and the connections that they make."""
