"""Text and bytes to records with spans: one module per format, one recogniser table, one shared
tokenizer.
"""
