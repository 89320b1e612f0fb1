"""Known faults that a walk alone does not see, one per file; each docstring is the check's manual
page.
"""
