"""Docker's own words: what it runs, publishes and connects."""
