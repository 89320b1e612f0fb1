"""Log lines to events, the window in which it broke, the suspects in it, and the chains of causes
that lead to facts.
"""
