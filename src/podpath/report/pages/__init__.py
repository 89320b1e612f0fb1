"""An answer as one HTML file to hand on: readable anywhere, loading nothing, running nothing."""
