"""Tests of the table of messages."""
