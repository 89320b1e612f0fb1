"""Sources with what surrounds them: whose node and namespace each shows, in which state, and
whether it is whole.
"""
