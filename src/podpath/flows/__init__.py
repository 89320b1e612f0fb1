"""Flows that must and must not connect: stated in a file, walked, and compared with a change."""
