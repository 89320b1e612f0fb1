"""nft's rulesets, in its own language and as JSON."""
