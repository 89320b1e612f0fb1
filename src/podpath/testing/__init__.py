"""What tests of podpath and of whatever is built on it need: nodes and conversations in as few
words as a ticket has.
"""
