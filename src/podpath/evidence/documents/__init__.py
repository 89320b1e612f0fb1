"""Tickets, articles and chat logs: the commands and outputs that stand in them, told from prose."""
