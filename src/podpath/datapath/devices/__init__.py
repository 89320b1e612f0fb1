"""What single kinds of device do with a frame: veth pairs, tunnels, ports of bridges and of Open
vSwitch.
"""
