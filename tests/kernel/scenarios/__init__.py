"""Scenarios on the real kernel: each is a few lines of shell on a small node, and a connection that
is really tried, taken as a snapshot, and walked.
"""
