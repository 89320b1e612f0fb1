"""Typed commands: cut as a shell cuts them, wrappers looked through, and what was asked for."""
