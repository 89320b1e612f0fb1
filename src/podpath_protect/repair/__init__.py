"""Pods of one node that started misconfigured: found, judged, and mended or sent away within a
budget, never a healthy one.
"""
