"""`podpath learn`: known incidents to find by hand, on the real kernel, in a world of their own."""
