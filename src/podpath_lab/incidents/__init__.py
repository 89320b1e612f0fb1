"""Known kinds of fault, ready to be built, broken and mended on the real kernel."""
