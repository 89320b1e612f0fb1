"""Devices with their addresses, ports and peers."""
