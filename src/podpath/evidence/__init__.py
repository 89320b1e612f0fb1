"""Text and bytes to records with spans: one module per format, one recognizer table, one shared
tokenizer.
"""
