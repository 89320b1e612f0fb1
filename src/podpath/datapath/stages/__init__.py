"""The stages of each path in the kernel's order, and the driver that runs them."""
