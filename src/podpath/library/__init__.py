"""What `import podpath` offers: evidence read to a case, and every question to it answered with a
typed, frozen result.
"""
