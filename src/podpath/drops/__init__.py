"""What the kernel tells of the packets that it frees: the BPF program that hears it, and its
words.
"""
