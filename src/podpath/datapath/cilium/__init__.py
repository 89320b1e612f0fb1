"""What Cilium's programs do with a packet, as far as its agent's listings tell."""
