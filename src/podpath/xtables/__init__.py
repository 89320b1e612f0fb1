"""What iptables knows by itself: its tables, and each extension that one packet alone decides,
whole in one module.
"""
