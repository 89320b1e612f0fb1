"""The sysctl keeper: declared keys judged by what the kernel makes of them, put back where they
drift, and who else writes.
"""
