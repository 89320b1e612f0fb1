"""A capture as a whole, in batches, by several workers, or only those of its columns that matching
needs.
"""
