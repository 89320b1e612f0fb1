"""Programs that tried to connect, and what they say came of it."""
