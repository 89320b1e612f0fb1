"""kubectl's outputs and CNI configurations."""
