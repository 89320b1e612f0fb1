"""Open vSwitch: bridges, ports, bonds, flows and groups."""
