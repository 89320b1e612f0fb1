"""Failing probes found, walked and explained; repairs proven; the next question asked."""
