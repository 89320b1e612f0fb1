"""Configuration files of programs: what any of them sets, in one form."""
