"""What an expert asks for next, by family: rows of facts and commands, with the clues that support
each.
"""
