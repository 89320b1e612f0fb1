"""What a namespace's own tables say: its devices and addresses, its routes as a tree, its policy
rules.
"""
