"""Open vSwitch: bridges, ports and bonds."""
