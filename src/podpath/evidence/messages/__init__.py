"""Lines that programs and the kernel print when something goes wrong: one table, by family, for
every text they may stand in.
"""
