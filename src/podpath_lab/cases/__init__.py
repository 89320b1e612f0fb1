"""Cases drawn at random, each from one number: a node and what is sent through it; and a case that
differs, made small.
"""
