"""The same packets, flows and connections followed across capture points, by tiers of identity."""
