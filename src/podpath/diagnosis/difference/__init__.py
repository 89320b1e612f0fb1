"""What differs between two nodes, and the least of it that explains why it works on one and fails
on the other.
"""
