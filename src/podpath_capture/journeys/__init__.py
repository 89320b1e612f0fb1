"""What became of each packet on its way: where it was seen, and between which points it was
lost.
"""
