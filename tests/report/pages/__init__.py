"""Answers as HTML files."""
