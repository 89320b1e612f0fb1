"""A node that is being put together, and what becomes of claims that disagree."""
