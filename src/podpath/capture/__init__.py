"""What captured packets come to: connections, ladders, and the words for both. The packets
themselves are read by `podpath_capture`, a distribution of its own.
"""
